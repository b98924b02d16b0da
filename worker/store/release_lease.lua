-- Frees the lease of a process that died. KEYS: lease. ARGV: what its holders' names begin with.
-- Returns 1, or 0 if it was another's.
local holder = redis.call('GET', KEYS[1])
if not holder or string.sub(holder, 1, #ARGV[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
