-- Replaces item records, each only if it still is what the writer saw, with the edits that follow.
-- KEYS: items, meta, log, then the hashes that edits may name, in the order of ARGV[1].
-- ARGV[1]: JSON list of those hashes' names. ARGV[2]: JSON list of changes.
-- Returns the items that had changed meanwhile.
local names = cjson.decode(ARGV[1])
local keys = {}
for i, name in ipairs(names) do
  keys[name] = KEYS[3 + i]
end
local conflicts = {}
for _, change in ipairs(cjson.decode(ARGV[2])) do
  local item, before, after, edits, note = change[1], change[2], change[3], change[4], change[5]
  if redis.call('HGET', KEYS[1], item) ~= before then
    conflicts[#conflicts + 1] = item
  else
    redis.call('HSET', KEYS[1], item, after)
    for _, edit in ipairs(edits) do
      local verb, key, field, value = edit[1], keys[edit[2]], edit[3], edit[4]
      if verb == 'set' then
        redis.call('HSET', key, field, value)
      elseif verb == 'del' then
        redis.call('HDEL', key, field)
      elseif verb == 'add' then
        if redis.call('HINCRBY', key, field, value) == 0 then
          redis.call('HDEL', key, field)
        end
      else
        local old = redis.call('HGET', key, field)
        -- whole microseconds since 1970 fit a double exactly; %.0f keeps all their digits
        if not old or tonumber(old) < tonumber(value) then
          redis.call('HSET', key, field, string.format('%.0f', tonumber(value)))
        end
      end
    end
    if note ~= '' then
      local revision = redis.call('HINCRBY', KEYS[2], 'revision', 1)
      redis.call('RPUSH', KEYS[3], '{"revision":' .. string.format('%.0f', revision) .. ',' .. string.sub(note, 2))
    end
  end
end
return conflicts
