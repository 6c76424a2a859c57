-- BLOCKER finds an owner that keeps another from having a node in a mode. It changes nothing.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate
-- ARGV  1 owner, 2 node, 3 mode, 4 rank in deadlines at which to begin,
--       5 the only owner to look at, or ''
-- Reply {'found', owner, mode, since, until, note, waiting, gate}: the blocker;
--         since and until are of its grant and the lease, or of its wait, in ms;
--         since is '0' for another program's gate key;
--         waiting is '1' if it waits itself; gate is '1' if it holds the gate or asks for it; each
--         is '0' otherwise
--       {'more', rank}: call again with this rank
--       {'none'}
--
-- The table says how many owners hold a node, but not which. Naming them would charge every request
-- for what only a refused one needs. So this script goes through the holders, in portions.

local LOOKS = 200

local asking, name, mode, rank, only = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]

local function found(owner, theirs, since, till, note, waiting, has_gate)
  return { 'found', owner, int(theirs), since, till, note, waiting and '1' or '0', has_gate and '1' or '0' }
end

state.queued = call('EXISTS', QUEUE) == 1

-- Somebody has the gate key and does not hold the gate node. That is either a waiter of ours, which
-- has closed the gate and waits for the present holders, or another program. A holder that asks for
-- the gate may pass the waiter.
local passes = holding(asking) and closer()
if name == GATE_NODE and only == '' and gate_is_others(asking) and not passes and node(GATE_NODE).mode ~= X then
  local list = GATE_NODE .. X
  for _, member in ipairs(call('ZRANGEBYLEX', QUEUE, '[' .. list, '(' .. list .. AFTER_TICKETS, 'LIMIT', '0', int(LOOKS))) do
    local r = request(sub(member, #list + 1))
    if r and gate_is_of(r.owner) then return found(r.owner, X, r.since, r.till, r.note, true, true) end
  end
  return found(sub(gate(), 1, TOKEN_BYTES), X, '0', int(NOW + math.max(call('PTTL', GATE), 0)),
    sub(gate(), TOKEN_BYTES + 1), false, true)
end

local deadlines
if only ~= '' then
  deadlines = { 'o' .. only, call('ZSCORE', DEADLINES, 'o' .. only) or '0' }
else
  deadlines = call('ZRANGE', DEADLINES, int(rank), int(rank + LOOKS - 1), 'WITHSCORES')
end
local owners, records, ends = {}, {}, {}
for i = 1, #deadlines, 2 do
  if sub(deadlines[i], 1, 1) == 'o' and tonumber(deadlines[i + 1]) > NOW then
    owners[#owners + 1] = deadlines[i]
    ends[#ends + 1] = deadlines[i + 1]
  end
end
if #owners > 0 then records = call('HMGET', LOCKS, unpack(owners)) end
for i, field in ipairs(owners) do
  local owner = sub(field, 2)
  -- A record without the node's name in it need not be unpacked.
  if owner ~= asking and records[i] and string.find(records[i], name, 1, true) then
    local held = holding(owner)
    local theirs = held.modes[name] or 0
    if theirs ~= 0 and not compatible(mode, theirs) then
      for _, g in ipairs(held.grants) do
        local names, modes = split(g.claims)
        for j = 1, #names do
          if names[j] == name and not compatible(mode, modes[j]) then
            local till = math.min(tonumber(ends[i]), apart.ends(owner, g.id) or math.huge)
            return found(owner, modes[j], g.since, int(till), g.note, false, held.modes[GATE_NODE] == X)
          end
        end
      end
    end
  end
end
if only == '' and #deadlines == 2 * LOOKS then return { 'more', int(rank + LOOKS) } end

-- No holder blocks the node, so a waiter does. It is one that the owner may not pass, if the owner
-- holds something.
local asks = { owner = asking, names = { name }, modes = { mode }, gate = false }
for m = IS, X do
  if not compatible(mode, m) then
    for _, ticket in ipairs(listed(name .. m)) do
      local r = request(ticket)
      if r and r.owner ~= asking and (only == '' or only == r.owner) and not (holding(asking) and may_pass(asks, r)) then
        return found(r.owner, m, r.since, r.till, r.note, true, r.gate)
      end
    end
  end
end
return { 'none' }
