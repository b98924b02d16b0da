-- Changes a small fact. KEYS: notes. ARGV: name, value before ('' for none), and after.
-- Returns 1, or 0 if it is another.
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
