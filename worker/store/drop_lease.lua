-- Gives the lease back. KEYS: lease. ARGV: holder. Returns 1, or 0 if it was another's.
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
