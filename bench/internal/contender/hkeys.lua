-- The lock that is written first: takes a path if no held path is above it, below it or the same.
-- It looks at every path that is held in the tree.
--   KEYS[1]  hash of the tree: held path -> owner
--   ARGV[1]  path, ending in a slash
--   ARGV[2]  owner
-- Replies 1 if taken, 0 if not.
for _, held in ipairs(redis.call('HKEYS', KEYS[1])) do
	if string.find(held, ARGV[1], 1, true) == 1 or string.find(ARGV[1], held, 1, true) == 1 then
		return 0
	end
end
return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
