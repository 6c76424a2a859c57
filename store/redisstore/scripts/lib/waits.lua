-- Who waits for whom, and who may pass whom. Whether a request has to wait at all, grant.lua says.
-- In one tree, at one instant:
--
--   * An owner holds if it has a grant or the gate key.
--   * A request conflicts with another owner if one of its modes is incompatible with what that
--     owner has on the node. It conflicts with another owner's request if their modes on a node are
--     incompatible.
--   * A request is behind an earlier request that it conflicts with, unless it may pass it.
--   * A request may pass an earlier request if its owner holds something and the earlier one waits
--     for that owner.
--   * A request waits for owner A if it conflicts with A; or if it conflicts with a holder that has
--     a request that waits for A; or if it is behind a request that waits for A.
--
-- These definitions are circular, so earlier requests are judged first. To decide whether W may
-- pass, holders' requests that came after W count as behind nobody.
--
-- An example: A holds X /a, and C holds X /c. B asks for X /a/b, then C for S /a/b, then D for S
-- /c. B and C wait for A, because they conflict with it. D waits for C, and so for A: C's request
-- waits for A. If A now asks for X /a/b, it may pass B and C, because both wait for A. If A asks
-- for X /c, that is a deadlock: C is in its way, and waits for A.
--
-- A search begins with the requests that wait for what the owner has. It goes on to those that wait
-- for these; usually there are none. It visits each request once.

-- directly returns the number of a claim of r that conflicts with what an owner has, or nil.
local function directly(r, owner)
  if gate_is_of(owner) and (r.gate or not (holding(r.owner) or gate_is_of(r.owner))) then return 1 end
  local held = holding(owner)
  if not held then return nil end
  for i = 1, #r.names do
    if not compatible(r.modes[i], held.modes[r.names[i]] or 0) then return i end
  end
  return nil
end

local function is_in(tickets, ticket)
  for _, t in ipairs(tickets) do
    if t == ticket then return true end
  end
  return false
end

local may_pass

-- search finds the requests that wait for an owner. Holders' requests that came after limit, a
-- ticket, count as behind nobody. see, if given, is called with each request: the search ends when
-- everybody has been found, or see returns true. It returns the tickets found, together with the
-- owner's own, as keys of a table.
local function search(owner, limit, see)
  local found, work = {}, {} -- the tickets found; and in the order of their visits
  local reached = {} -- list -> how many of its tickets are not reached yet, from the end on
  for _, ticket in ipairs(tickets_of(owner)) do found[ticket] = true end

  local function add(ticket)
    found[ticket] = true
    work[#work + 1] = ticket
  end

  -- add_list adds the requests on a list, except an owner's own and others.
  local function add_list(list, own, others)
    for _, ticket in ipairs(listed(list)) do
      if not found[ticket] and not others[ticket] and not is_in(own, ticket) then add(ticket) end
    end
  end

  -- expand adds the requests that conflict with what an owner has.
  local function expand(o)
    local held, own = holding(o), tickets_of(o)
    for name, mode in pairs(held and held.modes or {}) do
      local modes = band(CONFLICTS[mode], waits_on(name))
      for m = IS, modes > 0 and X or 0 do
        if band(modes, BIT[m]) ~= 0 then add_list(name .. m, own, {}) end
      end
    end
    if gate_is_of(o) then
      add_list(GATE_NODE .. X, own, {})
      add_list(GATE_NODE .. IX, own, lists.conversions(GATE_NODE .. IX))
    end
  end

  -- follow adds the requests on a list that are behind v.
  local function follow(list, v)
    local l, converting, own = listed(list), lists.conversions(list), tickets_of(v.owner)
    local at, all = reached[list] or #l, true
    while at >= 1 and l[at] > v.ticket do
      if is_in(own, l[at]) then
        all = false -- it may be behind another
      elseif not found[l[at]] and not converting[l[at]] then
        add(l[at])
      end
      at = at - 1
    end
    if all then reached[list] = at end
    for _, ticket in ipairs(listed('c' .. list)) do
      local r = ticket > v.ticket and ticket <= limit and not found[ticket] and request(ticket)
      if r and r.owner ~= v.owner and not may_pass(r, v) then add(ticket) end
    end
  end

  expand(owner)
  for _, ticket in ipairs(work) do -- ipairs goes on to those that are added meanwhile
    local v = request(ticket)
    if v and see and see(v) then return found end
    if v then expand(v.owner) end
    for i = 1, v and #v.names or 0 do
      local modes = band(CONFLICTS[v.modes[i]], waits_on(v.names[i]))
      for m = IS, modes > 0 and X or 0 do
        if band(modes, BIT[m]) ~= 0 then follow(v.names[i] .. m, v) end
      end
    end
  end
  return found
end

-- waiting_for returns the tickets of the requests that wait for an owner, as keys of a table. See
-- search for limit.
local function waiting_for(owner, limit)
  local key = owner .. limit
  local found = state.passing[key]
  if not found then
    found = search(owner, limit)
    state.passing[key] = found
  end
  return found
end

-- may_pass reports whether r, whose owner holds something, may pass an earlier request that it
-- conflicts with.
function may_pass(r, earlier)
  return directly(earlier, r.owner) or waiting_for(r.owner, r.ticket or AFTER_TICKETS)[earlier.ticket]
end
