-- Takes the lease, or keeps it. KEYS: lease, meta. ARGV: holder, milliseconds.
-- Returns 1, or 0 if somebody else has it.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('HSET', KEYS[2], 'turn', ARGV[1])
return 1
