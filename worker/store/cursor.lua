-- Moves the cursor forward, never back. KEYS: notes. ARGV: microseconds.
local old = redis.call('HGET', KEYS[1], 'cursor')
if not old or tonumber(old) < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], 'cursor', ARGV[1])
end
