-- Changes a notice, or takes it away. KEYS: notices. ARGV: name, text before, and after ('' to take it
-- away). Returns 1, or 0 if it is another.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1])
else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return 1
