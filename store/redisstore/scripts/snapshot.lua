-- SNAPSHOT reads the holds and the waiters of a tree. It changes nothing.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate
-- Reply {now in ms, fence or '', value of the gate key or '', its time to live in ms or -2 if there
--         is none, and for each member of deadlines: the member, its score, its record or ''}

local scored, members = call('ZRANGE', DEADLINES, '0', '-1', 'WITHSCORES'), {}
for i = 1, #scored, 2 do members[#members + 1] = scored[i] end
local reply = { int(NOW), call('GET', FENCE) or '', read_gate() or '', call('PTTL', GATE) }
for i = 1, #members, PORTION do
  local records = call('HMGET', LOCKS, unpack(members, i, math.min(i + PORTION - 1, #members)))
  for j, record in ipairs(records) do
    local at = #reply
    reply[at + 1], reply[at + 2], reply[at + 3] = members[i + j - 1], scored[2 * (i + j - 1)], record or ''
  end
end
return reply
