-- Publishes a decision, once per revision.
-- KEYS: meta, decided, decision, decisions. ARGV: revision, decision, '1' if it stops the assessment, channel.
-- Returns 1, or 0 when refused.
local meta = redis.call('HMGET', KEYS[1], 'status', 'revision')
if (meta[2] or '0') ~= ARGV[1] or redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then
  return 0
end
if ARGV[3] == '1' then
  if meta[1] ~= 'running' and meta[1] ~= 'paused' then
    return 0
  end
  redis.call('HSET', KEYS[1], 'status', 'stopped')
end
redis.call('HSET', KEYS[2], ARGV[1], 1)
redis.call('SET', KEYS[3], ARGV[2])
redis.call('XADD', KEYS[4], '*', 'revision', ARGV[1], 'decision', ARGV[2])
redis.call('PUBLISH', ARGV[4], ARGV[2])
return 1
