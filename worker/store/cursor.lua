-- Moves the cursor forward, never back, and keeps small facts. KEYS: notes. ARGV: microseconds, then
-- names and values of the facts.
local old = redis.call('HGET', KEYS[1], 'cursor')
if not old or tonumber(old) < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], 'cursor', ARGV[1])
end
if #ARGV > 1 then
  redis.call('HSET', KEYS[1], unpack(ARGV, 2))
end
