-- Keeps the lease of the turn that took it last. KEYS: lease, meta. ARGV: holder, milliseconds.
-- Returns 1, or 0 if another turn has taken it since.
if redis.call('HGET', KEYS[2], 'turn') ~= ARGV[1] then return 0 end
-- A worker of an earlier version takes it without a word.
if (redis.call('GET', KEYS[1]) or ARGV[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
