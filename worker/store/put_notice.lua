-- Puts a notice on the list, once. KEYS: names of all that ever were, notices. ARGV: name, text.
-- Returns 1, or 0 if it was there before.
if redis.call('SADD', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return 1
