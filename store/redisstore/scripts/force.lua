-- FORCE takes away everything that an owner has in the tree: grants, places in the queue, the gate
-- key.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate, 6 thin
-- ARGV  1 owner; for a gate key that another program took, its token, which is the whole value if that is shorter, and
--       '-' if it is empty
-- Reply {status, more}: 'released', or 'absent' if there is nothing; more is '1' if PROCEED should be called

local owner = ARGV[1]
open()
spare_memory()
sweep(owner)

local status = 'absent'
if holding(owner) or #tickets_of(owner) > 0 then
  evict(owner)
  status = 'released'
end
if gate() and (sub(gate(), 1, TOKEN_BYTES) == owner or gate() == '' and owner == '-') then
  call('DEL', GATE)
  state.gate = false
  status = 'released'
end
return { status, finish() }
