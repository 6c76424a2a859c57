-- RENEW makes leases last from now for at least the given time.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate, 6 thin
-- ARGV  owner, grant id or '', and time in ms, as often as wanted: with a grant id the lease that this grant lives by is meant,
--       which is its own if it is apart
-- Reply {'renewed', more, position...}: the positions, counted from 1, of those where owner or grant is gone;
--       more is '1' if PROCEED should be called
--
-- Who has the gate needs the gate key too: if it is gone, or another's, the whole lease is lost. So
-- it is if there is a deadline and no record: somebody has deleted it.

open()
spare_memory()

sweep()

local lost = {}

-- has_grant says whether an owner has a grant. Those whose own leases have ended are gone by now.
local function has_grant(owner, id)
  for _, g in ipairs(holding(owner).grants) do
    if g.id == id then return true end
  end
  return false
end

for i = 1, #ARGV, 3 do
  local owner, id, till = ARGV[i], ARGV[i + 1], NOW + tonumber(ARGV[i + 2])
  reclaim_apart(owner)
  local deadline = tonumber(call('ZSCORE', DEADLINES, 'o' .. owner) or 0)
  local kept = deadline > NOW and call('HEXISTS', LOCKS, 'o' .. owner) == 1
  if kept and node(GATE_NODE).mode == X and holding(owner).modes[GATE_NODE] == X then
    kept = gate_is_of(owner)
  end
  if not kept then
    lost[#lost + 1] = (i + 2) / 3
    if deadline > NOW then evict(owner) end
  elseif id == '' then
    prolong(owner, till)
  elseif has_grant(owner, id) then
    prolong_grant(owner, id, till)
  else
    lost[#lost + 1] = (i + 2) / 3
  end
end
return { 'renewed', finish(), unpack(lost) }
