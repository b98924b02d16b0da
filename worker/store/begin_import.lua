-- Notes that claims are being imported, and begins a reading. KEYS: lease, meta, then one key a claim.
-- ARGV: holder, milliseconds of the lease, milliseconds of the doubt.
-- Returns the number of the reading, or 0 without the lease.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
for i = 3, #KEYS do redis.call('SET', KEYS[i], 1, 'PX', ARGV[3]) end
return redis.call('HINCRBY', KEYS[2], 'reading', 1)
