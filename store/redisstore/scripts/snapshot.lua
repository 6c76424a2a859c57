-- SNAPSHOT reads a page of the holds and the waiters of a tree. It changes nothing.
--
-- The pages are those of ZSCAN. It shows every member that is there from the first page to the
-- last, even if its deadline moves in the meantime, in either direction. A tree that fits into one
-- page is read at one instant.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate
-- ARGV  1 the cursor of the page, 0 for the first; 2 how many entries a page has, roughly
-- Reply {now in ms, fence or '', value of the gate key or '', its time to live in ms or -2 if there
--         is none, cursor of the next page or 0, members and scores of deadlines, their records
--         with false for each that is missing}

local cursor, page, members, records = '0', {}, {}, {}
if ARGV[1] == '0' and call('ZCARD', DEADLINES) <= tonumber(ARGV[2]) then
  page = call('ZRANGE', DEADLINES, '0', '-1', 'WITHSCORES')
else
  cursor, page = unpack(call('ZSCAN', DEADLINES, ARGV[1], 'COUNT', ARGV[2]))
end
for i = 1, #page, 2 do members[#members + 1] = page[i] end
if #members > 0 then records = call('HMGET', LOCKS, unpack(members)) end
return { int(NOW), call('GET', FENCE) or '', read_gate() or '', call('PTTL', GATE), cursor, page, records }
