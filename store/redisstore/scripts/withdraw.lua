-- WITHDRAW takes a request out of the queue, or gives back what it was granted.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate, 6 withdrawn
-- ARGV  1 owner, 2 grant id,
--       3 for how many ms to remember the withdrawal: if the request comes, or comes again, within
--         that time, it is granted nothing; '0' if it cannot come any more
-- Reply {'withdrawn'}; {'absent'} if nothing is known of it

local owner, id, remember = ARGV[1], ARGV[2], tonumber(ARGV[3])

open()
spare_memory()
sweep()

if remember > 0 then call('SET', WITHDRAWN, '', 'PX', int(remember)) end

if grant_of(owner, id) then
  give_back(owner, id)
  return finish('withdrawn')
end
local status = 'absent'
for _, ticket in ipairs(tickets_of(owner)) do
  local r = request(ticket)
  if r and r.id == id then
    leave(r)
    status = 'withdrawn'
  end
end
return finish(status)
