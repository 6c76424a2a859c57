-- SNAPSHOT reads the holds and the waiters of a tree. It changes nothing.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate
-- Reply {now in ms, fence or '', value of the gate key or '', its time to live in ms or -2 if there
--         is none, members and scores of deadlines, their records with false for each that is
--         missing}

local scored, members, records = call('ZRANGE', DEADLINES, '0', '-1', 'WITHSCORES'), {}, {}
for i = 1, #scored, 2 do members[#members + 1] = scored[i] end
for i = 1, #members, PORTION do
  for _, record in ipairs(call('HMGET', LOCKS, unpack(members, i, math.min(i + PORTION - 1, #members)))) do
    records[#records + 1] = record
  end
end
return { int(NOW), call('GET', FENCE) or '', read_gate() or '', call('PTTL', GATE), scored, records }
