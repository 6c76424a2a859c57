-- Whether a request can be granted, and granting it. fastpath/acquire.lua decides the common case
-- by the same rule, without this.

-- first_waiter returns the ticket of the first request that waits for a node in mode, before ticket
-- before. It skips own, the asking owner's tickets.
local function first_waiter(name, mode, before, own)
  local list = name .. mode
  local members = state.lists[list] or
    call('ZRANGEBYLEX', QUEUE, '[' .. list, '(' .. list .. before, 'LIMIT', '0', int(#own + 1))
  for _, member in ipairs(members) do
    local ticket = sub(member, -TICKET_BYTES)
    if ticket >= before then return nil end
    if not is_in(own, ticket) then return ticket end
  end
  return nil
end

-- earlier_waiter returns the number of the claim by which r is behind an earlier request, or nil.
local function earlier_waiter(r, held)
  local holds = held or gate_is_of(r.owner)
  local before, own = r.ticket or AFTER_TICKETS, tickets_of(r.owner)
  for i = 1, #r.names do
    local name, mode = r.names[i], r.modes[i]
    -- Requests that wait for what r's owner has on the node wait for that owner: it may pass them.
    local has = held and held.modes[name] or 0
    local modes = band(CONFLICTS[mode], waits_on(name), 31 - CONFLICTS[has])
    for m = IS, modes > 0 and X or 0 do
      if band(modes, BIT[m]) ~= 0 then
        if not holds then
          if first_waiter(name, m, before, own) then return i end
        else
          for _, ticket in ipairs(listed(name .. m)) do
            if ticket >= before then break end
            local earlier = not is_in(own, ticket) and request(ticket)
            if earlier and not may_pass(r, earlier) then return i end
          end
        end
      end
    end
  end
  return nil
end

-- held_by_others returns the numbers of the claims of r that other holders block.
local function held_by_others(r, held)
  local blocked = {}
  load_nodes(r.names)
  for i = 1, #r.names do
    local own = held and held.modes[r.names[i]] or 0
    local want = supremum(own, r.modes[i])
    if want ~= own and not admits(state.nodes[r.names[i]], want, own) then blocked[#blocked + 1] = i end
  end
  return blocked
end

-- closer returns the owner that has the gate key and nothing else, and waits for the present
-- holders to drain. It waits for all of them. So a holder that asks for the gate may pass it, and
-- takes over the key.
local function closer()
  if not state.queued or not gate() or node(GATE_NODE).mode == X then return nil end
  for _, ticket in ipairs(listed(GATE_NODE .. X)) do
    local r = request(ticket)
    if r and gate_is_of(r.owner) then return not holding(r.owner) and r.owner or nil end
  end
  return nil
end

-- close gives the gate key to an owner that asks for the gate, until a moment (ms).
local function close(r, till)
  if gate_is_of(r.owner) then
    take_gate(r.owner, r.note, till)
    return
  end
  local before = closer()
  take_gate(r.owner, r.note, till)
  reclassify(r.owner)
  if before then
    reclassify(before)
    free(GATE_NODE, ALL) -- if r gives up, the closer before it gets the key back
  end
end

-- obstacle returns the number of a claim of r that cannot be granted now, and what blocks it:
-- 'gate' for the gate key, 'waiter' for an earlier request, 'holder'. It returns nil if nothing
-- does. r.ticket is nil if r is not queued.
--
-- The gate key keeps an owner that holds something from the gate, but not from nodes. A request for
-- the gate gets the gate key as soon as only holders block it. So obstacle reports a waiter first
-- for such a request.
local function obstacle(r)
  local held = holding(r.owner)
  if gate_is_others(r.owner) and (not held or r.gate and not closer()) then return 1, 'gate' end
  local at = held_by_others(r, held)[1]
  if at and not r.gate then return at, 'holder' end
  local behind = state.queued and earlier_waiter(r, held)
  if behind then return behind, 'waiter' end
  return at, at and 'holder'
end

-- time_gate makes the gate key of an owner that holds the gate expire with its last grant of the
-- gate.
local function time_gate(owner)
  local held = gate_is_of(owner) and holding(owner)
  if not held or held.modes[GATE_NODE] ~= X then return end
  local till = tonumber(call('ZSCORE', DEADLINES, 'o' .. owner) or 0)
  local last = 0
  for _, g in ipairs(held.grants) do
    local _, modes = split(g.claims)
    if modes[1] == X then last = math.max(last, apart_ends(owner, g.id) or till) end
  end
  call('PEXPIREAT', GATE, int(math.min(last, till)))
end

-- prolong extends the lease that a grant lives by to a moment (ms), unless it lasts longer already:
-- the grant's own if it is apart, and otherwise the owner's. id is nil for the owner's.
local function prolong(owner, id, till)
  local member = id and apart_ends(owner, id) and apart_member(owner, id) or 'o' .. owner
  if till > tonumber(call('ZSCORE', DEADLINES, member) or 0) then
    touch()
    call('ZADD', DEADLINES, int(till), member)
    time_gate(owner)
  end
end

-- grant records that r is granted, and returns the fence. If r has waited, the lease runs from its
-- waiter's last sign of life. An owner that holds nothing else has no lease that this grant could
-- be apart from.
local function grant(r)
  touch()
  local held = holding(r.owner)
  local till = (r.seen or NOW) + r.lease
  local is_apart = r.apart == '1' and held
  held = held or { grants = {}, modes = {} }
  -- A deadline without its grant does no harm, should this script fail here.
  if is_apart then call('ZADD', DEADLINES, int(till), apart_member(r.owner, r.id)) end
  local fence = next_fence()
  load_nodes(r.names)
  for i = 1, #r.names do
    local name = r.names[i]
    local own = held.modes[name] or 0
    local want = supremum(own, r.modes[i])
    if want ~= own then
      recount(name, own, want)
      held.modes[name] = want
    end
  end
  held.grants[#held.grants + 1] =
    { id = r.id, fence = fence, since = int(NOW), claims = r.claims, paths = r.paths, note = r.note, origin = r.origin }
  write_holding(r.owner, held)
  if r.gate then take_gate(r.owner, r.note, till) end
  if not is_apart then prolong(r.owner, nil, till) end
  if r.gate then time_gate(r.owner) end
  moved()
  return fence
end
