-- SNAPSHOT reads a page of what is held and waited for in a tree, in order of the deadlines. It changes nothing.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate, 6 thin
-- ARGV  1 the deadline to begin at, or -inf, 2 how many entries at most
-- Reply {now in ms, fence or '', gate key's value or '', its time to live in ms or -2 if there is none, members and scores of
--       deadlines, their records; where one is missing, false}

local page, members, records = {}, {}, {}
thin = call('GET', THIN)
if thin then
  local owner, till, at = struct.unpack(THIN_HEAD, thin)
  page, records = { 'o' .. owner, till }, { sub(thin, at) }
else
  page = call('ZRANGEBYSCORE', DEADLINES, ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', '0', ARGV[2])
  for i = 1, #page, 2 do members[#members + 1] = page[i] end
  if #members > 0 then records = call('HMGET', LOCKS, unpack(members)) end
end
return { int(NOW), call('GET', FENCE) or '', call('GET', GATE) or '', call('PTTL', GATE), page, records }
