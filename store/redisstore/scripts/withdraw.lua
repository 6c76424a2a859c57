-- WITHDRAW takes a queued request out of the queue. It also says whether the request was granted
-- before.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate, 6 withdrawn
-- ARGV  1 owner, 2 grant id,
--       3 for how many ms to remember the withdrawal: if the request comes, or comes again, within
--         that time, it is granted nothing; '0' if it cannot come any more
-- Reply {'withdrawn'}; {'granted', fence}; {'absent'} if nothing is known of it

local owner, id, remember = ARGV[1], ARGV[2], tonumber(ARGV[3])

open()
spare_memory()
sweep()

if remember > 0 then call('SET', WITHDRAWN, '', 'PX', int(remember)) end

local grant = grant_of(owner, id)
if grant then return finish('granted', grant.fence) end
local status = 'absent'
for _, ticket in ipairs(tickets_of(owner)) do
  local r = request(ticket)
  if r and r.id == id then
    leave(r)
    status = 'withdrawn'
  end
end
return finish(status)
