-- Who waits for whom, and who may pass whom. In one tree, at one instant:
--
--   An owner holds if it has a grant, or the gate key. A request conflicts with another owner if a mode that it asks for cannot be had
--   beside what that owner has on the node, and with another owner's request if their modes on a node cannot be had together.
--   It is behind an earlier request that it conflicts with, unless it may pass it.
--   It may pass an earlier request if its owner holds something and that request waits for its owner.
--   It waits for owner A if it conflicts with A, or with a holder who has a request that waits for A, or is behind a
--   request that waits for A.
--
-- Where that goes round in a circle, the earlier request is judged first: whether W may pass is found out without those
-- requests of holders that came after W being behind anybody.
--
-- A search begins with those who wait for what the owner has and goes on to those who wait for them: usually there is nobody. It
-- comes to each request, and to each owner who waits, once.

-- directly returns the number of a claim of r for which it conflicts with what an owner has, or nil.
local function directly(r, owner)
  if gate_is_of(owner) and (r.gate or not (holding(r.owner) or gate_is_of(r.owner))) then return 1 end
  local held = holding(owner)
  if not held then return nil end
  for i = 1, #r.names do
    if not compatible(r.modes[i], held.modes[r.names[i]] or 0) then return i end
  end
  return nil
end

local waiting_for

-- may_pass says whether r, whose owner holds something, may pass an earlier request that it conflicts with.
local function may_pass(r, earlier)
  return directly(earlier, r.owner) or waiting_for(r.owner, r.ticket or AFTER_TICKETS)[earlier.ticket]
end

-- waiting_for returns the tickets of those who wait for an owner, as keys of a table. Requests of holders that came
-- after the limit, a ticket, are not taken to be behind anybody.
function waiting_for(owner, limit)
  local key = owner .. limit
  if state.passing[key] then return state.passing[key] end
  local found, work, expanded = {}, {}, {}
  local conversions = converting() or {}
  local reached = {} -- list -> how many of its tickets have not been come to yet, from the end on
  local single = {}  -- list -> those come to that have to be asked about for each request before them

  local function add(r)
    found[r.ticket] = true
    work[#work + 1] = r
  end

  local function add_list(list, but)
    for _, ticket in ipairs(listed(list)) do
      local r = not found[ticket] and request(ticket)
      if r and r.owner ~= owner and r.owner ~= but then add(r) end
    end
  end

  -- expand adds those who conflict with what an owner has.
  local function expand(o)
    if expanded[o] then return end
    expanded[o] = true
    local held = holding(o)
    local names = {}
    for name in pairs(held and held.modes or {}) do names[#names + 1] = name end
    load_nodes(names)
    for _, name in ipairs(names) do
      local modes = band(CONFLICTS[held.modes[name]], waits_on(name))
      for m = IS, modes > 0 and X or 0 do
        if band(modes, BIT[m]) ~= 0 then add_list(name .. m, o) end
      end
    end
    if gate_is_of(o) then
      add_list(GATE_NODE .. X, o)
      for _, ticket in ipairs(listed(GATE_NODE .. IX)) do
        local r = not found[ticket] and not conversions[ticket] and request(ticket)
        if r and r.owner ~= owner and r.owner ~= o then add(r) end
      end
    end
  end

  -- follow adds those on a list who are behind v.
  local function follow(list, v)
    local l = listed(list)
    local at, alone = reached[list] or #l, single[list] or {}
    reached[list], single[list] = at, alone
    while at >= 1 and l[at] > v.ticket do
      local ticket = l[at]
      local r = not found[ticket] and request(ticket)
      if r and r.owner ~= owner then
        if conversions[ticket] or r.owner == v.owner then
          alone[#alone + 1] = r
        else
          add(r)
        end
      end
      at = at - 1
    end
    reached[list] = at
    for _, r in ipairs(alone) do
      if r.ticket > v.ticket and not found[r.ticket] and r.owner ~= v.owner and
        (not conversions[r.ticket] or r.ticket <= limit and not may_pass(r, v)) then
        add(r)
      end
    end
  end

  expand(owner)
  while #work > 0 do
    local v = table.remove(work)
    if conversions[v.ticket] then expand(v.owner) end
    load_nodes(v.names)
    for i = 1, #v.names do
      local modes = band(CONFLICTS[v.modes[i]], waits_on(v.names[i]))
      for m = IS, modes > 0 and X or 0 do
        if band(modes, BIT[m]) ~= 0 then follow(v.names[i] .. m, v) end
      end
    end
  end
  state.passing[key] = found
  return found
end

local function is_in(tickets, ticket)
  for _, t in ipairs(tickets) do
    if t == ticket then return true end
  end
  return false
end

-- first_waiter returns the ticket of the first request of another owner that waits for a node in the given mode,
-- among those before the ticket; own are the asking owner's tickets.
local function first_waiter(name, mode, before, own)
  local list = name .. mode
  local members = call('ZRANGEBYLEX', QUEUE, '[' .. list, '(' .. list .. before, 'LIMIT', '0', int(#own + 1))
  for _, member in ipairs(members) do
    local ticket = sub(member, #list + 1)
    if not is_in(own, ticket) then return ticket end
  end
  return nil
end

-- stand adds a request to those that have been found to wait: ahead has for each node who wants it, and in which mode.
local function stand(ahead, r)
  for i = 1, #r.names do
    local there = ahead[r.names[i]] or {}
    there[#there + 1] = { owner = r.owner, mode = r.modes[i] }
    ahead[r.names[i]] = there
  end
end

-- stands_in_the_way says whether another owner ahead wants the node in a mode that conflicts with the given one.
local function stands_in_the_way(ahead, name, mode, owner)
  for _, other in ipairs(ahead[name] or {}) do
    if other.owner ~= owner and not compatible(other.mode, mode) then return true end
  end
  return false
end

-- earlier_waiter returns the number of the claim of r for which it is behind somebody, or nil.
local function earlier_waiter(r, held, ahead)
  local holds = held or gate_is_of(r.owner)
  local before, own = r.ticket or AFTER_TICKETS, tickets_of(r.owner)
  for i = 1, #r.names do
    local name, mode = r.names[i], r.modes[i]
    if ahead and not holds then
      if stands_in_the_way(ahead, name, mode, r.owner) then return i end
    else
      -- Those who wait for what r's owner has on the node wait for the owner: it may pass them.
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
  end
  return nil
end

-- held_by_others returns the number of the claim of r that holders keep it from, or nil.
local function held_by_others(r, held)
  for i = 1, #r.names do
    local name = r.names[i]
    local own = held and held.modes[name] or 0
    local want = supremum(own, r.modes[i])
    if want ~= own and not admits(state.nodes[name], want, own) then return i end
  end
  return nil
end

-- closer returns who has the gate key and nothing else, and waits for the present holders to come to their end. It waits
-- for all of them: one that asks for the gate may pass it, and takes the key over.
local function closer()
  if not state.queued or not gate() or node(GATE_NODE).mode == X then return nil end
  for _, ticket in ipairs(listed(GATE_NODE .. X)) do
    local r = request(ticket)
    if r and gate_is_of(r.owner) then return not holding(r.owner) and r.owner or nil end
  end
  return nil
end

-- close gives the gate key to an owner that asks for the gate, until a moment.
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
    state.all = true -- if r gives up, it is to have the key again
  end
end

-- obstacle returns the number of the claim of r that cannot be granted now, and what stands in its
-- way: 'gate' for the gate key, 'waiter' for an earlier comer, 'holder'; or nil. r.ticket is nil if r is not queued. If
-- ahead is given, it has all who wait and came earlier, and the queue need not be asked.
--
-- The gate key keeps an owner who holds something from the gate, not from nodes. Who asks for the gate gets its key as soon as holders alone are in
-- its way: a waiter comes first then.
local function obstacle(r, ahead)
  local held = holding(r.owner)
  if gate_is_others(r.owner) and (not held or r.gate and not closer()) then return 1, 'gate' end
  load_nodes(r.names)
  local at = held_by_others(r, held)
  if at and not r.gate then return at, 'holder' end
  local behind = state.queued and earlier_waiter(r, held, ahead)
  if behind then return behind, 'waiter' end
  return at, at and 'holder'
end

-- cycle says whether r conflicts with somebody who waits for r's owner. It returns the number of the claim that cannot be had and
-- the owner that has it, or nil. Such an owner holds something and waits: those who do are few.
local function cycle(r)
  local conversions = converting()
  if not conversions then return nil end
  local held = holding(r.owner)
  local blocked = {} -- numbers of the claims that somebody keeps r from
  load_nodes(r.names)
  for i = 1, #r.names do
    local own = held and held.modes[r.names[i]] or 0
    local want = supremum(own, r.modes[i])
    if want ~= own and not admits(state.nodes[r.names[i]], want, own) then blocked[#blocked + 1] = i end
  end
  local for_gate = r.gate and gate_is_others(r.owner)
  if #blocked == 0 and not for_gate then return nil end

  local owners, fields, seen = {}, {}, { [r.owner] = true }
  for mode = IX, X, X - IX do
    for _, owner in ipairs(listed('c' .. GATE_NODE .. mode).owners) do
      if not seen[owner] then
        seen[owner] = true
        owners[#owners + 1] = owner
        fields[#fields + 1] = 'o' .. owner
      end
    end
  end
  for from = 1, #owners, PORTION do
    local to = math.min(from + PORTION - 1, #owners)
    local records = call('HMGET', LOCKS, unpack(fields, from, to))
    for j = from, to do
      local owner, record = owners[j], records[j - from + 1] or ''
      local claim = for_gate and gate_is_of(owner) and 1
      for _, i in ipairs(blocked) do
        -- A record that has not got the name in it need not be taken apart.
        if not claim and string.find(record, r.names[i], 1, true) and
          not compatible(r.modes[i], holding(owner).modes[r.names[i]] or 0) then
          claim = i
        end
      end
      if claim then
        for _, ticket in ipairs(tickets_of(owner)) do
          local theirs = request(ticket)
          if theirs and (directly(theirs, r.owner) or waiting_for(r.owner, AFTER_TICKETS)[ticket]) then
            return claim, owner
          end
        end
      end
    end
  end
  return nil
end
