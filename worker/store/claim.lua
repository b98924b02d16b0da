-- Claims items, all or none.
-- KEYS: meta, items, open, taken, choices. ARGV: revision, number of the first claim, JSON list of
-- claims, each [item, cell, record, open note, log line]. Returns 1, or 0 when refused.
local meta = redis.call('HMGET', KEYS[1], 'status', 'revision', 'claims')
if meta[1] ~= 'running' or (meta[2] or '0') ~= ARGV[1] or (meta[3] or '0') ~= ARGV[2] then
  return 0
end
local claims = cjson.decode(ARGV[3])
for _, claim in ipairs(claims) do
  if redis.call('HEXISTS', KEYS[2], claim[1]) == 1 then
    return 0
  end
end
for _, claim in ipairs(claims) do
  redis.call('HSET', KEYS[2], claim[1], claim[3])
  redis.call('HSET', KEYS[3], claim[1], claim[4])
  redis.call('HINCRBY', KEYS[4], claim[2], 1)
  redis.call('RPUSH', KEYS[5], claim[5])
end
redis.call('HINCRBY', KEYS[1], 'claims', #claims)
return 1
