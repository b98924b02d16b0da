-- Begins an assessment. KEYS: meta. ARGV: header. Returns 1, or 0 if it was begun already.
if redis.call('HSETNX', KEYS[1], 'header', ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'status', 'running')
return 1
