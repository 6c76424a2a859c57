-- WITHDRAW takes a queued request out of the queue. It tells if the request was granted before.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate, 6 thin
-- ARGV  1 owner, 2 grant id
-- Reply {'withdrawn', more}, {'granted', more, fence} or, if nothing is known of it, {'absent', more};
--       more is '1' if PROCEED should be called

sweep(ARGV[1])

local held = holding(ARGV[1])
if held then
  for _, g in ipairs(held.grants) do
    if g.id == ARGV[2] then return { 'granted', finish(), g.fence } end
  end
end
local status = 'absent'
for _, ticket in ipairs(tickets_of(ARGV[1])) do
  local r = request(ticket)
  if r and r.id == ARGV[2] then
    leave(r)
    status = 'withdrawn'
  end
end
return { status, finish() }
