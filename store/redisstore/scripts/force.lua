-- FORCE takes away everything that an owner has in the tree: its grants, its places in the queue
-- and the gate key.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate
-- ARGV  1 owner; to remove another program's gate key, its token: the first 22 bytes of the value,
--         the whole value if that is shorter, or '-' if it is empty
-- Reply {status}: 'released', or 'absent' if there is nothing

local owner = ARGV[1]
open()
spare_memory()
sweep()

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
return finish(status)
