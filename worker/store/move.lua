-- Changes the status. KEYS: meta. ARGV: status before, and after. Returns 1, or 0 if it is another.
if redis.call('HGET', KEYS[1], 'status') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'status', ARGV[2])
return 1
