-- RENEW makes leases last for at least the given time from now.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate
-- ARGV  owner, grant id or '', and time in ms, as often as wanted: a grant id means the lease that
--         this grant lives by, which is its own if it is apart; '' means the owner's
-- Reply {'renewed', position...}: the positions, counted from 1, of those whose owner or grant is
--         gone
--
-- An owner that holds the gate needs the gate key too: if the key is gone, or another's, the whole
-- lease is lost. It is also lost if there is a deadline without a record, because somebody has
-- deleted the record.

open()
spare_memory()
sweep()

local lost = {}
for i = 1, #ARGV, 3 do
  local owner, id, till = ARGV[i], ARGV[i + 1], NOW + tonumber(ARGV[i + 2])
  local deadline = tonumber(call('ZSCORE', DEADLINES, 'o' .. owner) or 0)
  local kept = deadline > NOW and call('HEXISTS', LOCKS, 'o' .. owner) == 1
  if kept and node(GATE_NODE).mode == X and holding(owner).modes[GATE_NODE] == X then
    kept = gate_is_of(owner)
  end
  if not kept then
    lost[#lost + 1] = (i + 2) / 3
    if deadline > NOW then evict(owner) end
  elseif id == '' or grant_of(owner, id) then
    prolong(owner, id, till)
  else
    lost[#lost + 1] = (i + 2) / 3
  end
end
local reply = finish('renewed')
for i = 1, #lost do reply[i + 1] = lost[i] end
return reply
