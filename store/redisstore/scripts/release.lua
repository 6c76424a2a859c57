-- RELEASE gives back one grant, and hands over to the waiters that can be granted then.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate
-- ARGV  1 owner, 2 grant id
-- Reply {status}: 'released', or 'absent' if there is no such grant

open()
spare_memory()
sweep()

if not grant_of(ARGV[1], ARGV[2]) then return finish('absent') end
give_back(ARGV[1], ARGV[2])
return finish('released')
