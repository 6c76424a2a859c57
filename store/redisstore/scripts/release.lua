-- RELEASE gives back one grant, and hands over to the waiters that can be granted then.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate
-- ARGV  1 owner, 2 grant id
-- Reply {status}: 'released', or 'absent' if there is no such grant

open()
spare_memory()
sweep()

local status = 'absent'
local held = holding(ARGV[1])
if held then
  for _, g in ipairs(held.grants) do
    if g.id == ARGV[2] then status = 'released' end
  end
end
if status == 'released' then give_back(ARGV[1], ARGV[2]) end
return finish(status)
