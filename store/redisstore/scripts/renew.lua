-- RENEW makes leases last from now for at least the given time.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate, 6 thin
-- ARGV  owner and time in ms, as often as wanted
-- Reply {'renewed', more, position...}: the positions, counted from 1, of the owners who hold nothing (any more);
--       more is '1' if PROCEED should be called
--
-- Who has the gate needs the gate key too: if it is gone, or another's, the whole lease is lost. So it is
-- if there is a deadline and no record: somebody has deleted it.

open()
spare_memory()

sweep()

local lost = {}
for i = 1, #ARGV, 2 do
  local owner = ARGV[i]
  local deadline = tonumber(call('ZSCORE', DEADLINES, 'o' .. owner) or 0)
  local kept = deadline > NOW and call('HEXISTS', LOCKS, 'o' .. owner) == 1
  if kept and node(GATE_NODE).mode == X and holding(owner).modes[GATE_NODE] == X then
    kept = gate_is_of(owner)
  end
  if kept then
    touch()
    local wanted = math.max(deadline, NOW + tonumber(ARGV[i + 1]))
    call('ZADD', DEADLINES, int(wanted), 'o' .. owner)
    if gate_is_of(owner) then call('PEXPIREAT', GATE, int(wanted)) end
  else
    lost[#lost + 1] = (i + 1) / 2
    if deadline > NOW then evict(owner) end
  end
end
return { 'renewed', finish(), unpack(lost) }
