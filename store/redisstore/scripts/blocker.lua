-- BLOCKER finds somebody who keeps an owner from having a node in a mode. It changes nothing.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate, 6 thin
-- ARGV  1 owner, 2 node, 3 mode, 4 rank among the holders to begin at, 5 the only owner to look at, or ''
-- Reply {'found', owner, mode, since, until, note, waiting, gate} with times in ms and waiting and gate as '0' or '1': since and
--         until are of the grant and its lease, or of the wait; since is '0' where a gate key is another program's
--       {'more', rank}: call again with this rank;  {'none'}
--
-- The table tells how many hold a node, not who: that would cost every request what only a
-- refused one needs. So the holders are gone through in portions.

local LOOKS = 200

local asking, name, mode, rank, only = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]

local function found(owner, theirs, since, till, note, waiting, has_gate)
  return { 'found', owner, int(theirs), since, till, note, waiting and '1' or '0', has_gate and '1' or '0' }
end

state.queued = call('EXISTS', QUEUE) == 1

-- A gate key of somebody who does not hold the gate node: a waiter of ours who has closed the gate
-- and waits for the present holders, or another program.
if name == GATE_NODE and only == '' and gate_is_others(asking) and node(GATE_NODE).mode ~= X then
  local list = GATE_NODE .. X
  for _, member in ipairs(call('ZRANGEBYLEX', QUEUE, '[' .. list, '(' .. list .. AFTER_TICKETS, 'LIMIT', '0', int(LOOKS))) do
    local r = request(sub(member, #list + 1))
    if r and gate_is_of(r.owner) then return found(r.owner, X, r.since, r.till, r.note, true, true) end
  end
  return found(sub(gate(), 1, TOKEN_BYTES), X, '0', int(NOW + math.max(call('PTTL', GATE), 0)),
    sub(gate(), TOKEN_BYTES + 1), false, true)
end

local deadlines, alone
thin = call('GET', THIN)
if thin then
  local holder, till, at = struct.unpack(THIN_HEAD, thin)
  deadlines, alone = { 'o' .. holder, till }, sub(thin, at)
  state.holdings[holder] = unpack_holding(alone)
elseif only ~= '' then
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
if alone then
  records = { alone }
elseif #owners > 0 then
  records = call('HMGET', LOCKS, unpack(owners))
end
for i, field in ipairs(owners) do
  local owner = sub(field, 2)
  -- A record that has not got the name in it need not be taken apart.
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

-- A waiter, then: of those whom the owner may not pass, if it holds something.
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
