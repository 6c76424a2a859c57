-- The queue of one tree: the waiters, in order of arrival.

local TICKET_BYTES = 16
local AFTER_TICKETS = '~' -- sorts behind every ticket

-- request returns a queued request by its ticket, or nil.
local function request(ticket)
  local r = state.requests[ticket]
  if r == nil then
    local record = call('HGET', LOCKS, 'w' .. ticket)
    r = record and cmsgpack.unpack(record)
    if r then
      r.ticket = ticket
      r.names, r.modes = split(r.claims)
      r.gate = r.modes[1] == X
    end
    state.requests[ticket] = r
  end
  return r or nil
end

-- write_request writes a queued request, and further fields of the table.
local function write_request(r, ...)
  state.requests[r.ticket] = r
  call('HSET', LOCKS, 'w' .. r.ticket, cmsgpack.pack({
    owner = r.owner, id = r.id, lease = r.lease, till = r.till, since = r.since, seen = r.seen,
    channel = r.channel, ref = r.ref, claims = r.claims, paths = r.paths, note = r.note, origin = r.origin,
    apart = r.apart,
  }), ...)
end

-- tickets_of returns the tickets of an owner's queued requests.
local function tickets_of(owner)
  local tickets = state.tickets[owner]
  if not tickets then
    tickets = {}
    local all = state.queued and call('HGET', LOCKS, 'r' .. owner) or ''
    for i = 1, #all, TICKET_BYTES do tickets[#tickets + 1] = sub(all, i, i + TICKET_BYTES - 1) end
    state.tickets[owner] = tickets
  end
  return tickets
end

-- listed returns the tickets on a list of the queue, in order of arrival.
local function listed(list)
  local l = state.lists[list]
  if not l then
    l = call('ZRANGEBYLEX', QUEUE, '[' .. list, '(' .. list .. AFTER_TICKETS)
    local from, to = #list + 1, #list + TICKET_BYTES
    for i = 1, #l do l[i] = sub(l[i], from, to) end
    state.lists[list] = l
  end
  return l
end

-- What else the lists of the queue tell, in one table: a Lua function can use at most sixty names
-- from outside of it.
local lists = {}

-- any reports whether any request is on a list.
function lists.any(list)
  return state.queued and #call('ZRANGEBYLEX', QUEUE, '[' .. list, '(' .. list .. AFTER_TICKETS, 'LIMIT', '0', '1') > 0
end

-- moved notes that somebody was granted something, has given something up, or has begun to wait.
local function moved()
  state.lists, state.passing, state.moved = {}, {}, true
end

-- places returns the members of the queue for a request, and those for the same request as a
-- conversion.
local function places(r)
  local members, conversions = {}, {}
  for i = 1, #r.names do
    local claim = r.names[i] .. r.modes[i] .. r.ticket
    members[i], conversions[i] = claim, 'c' .. claim .. r.owner
  end
  return members, conversions
end

-- converts adds a request to the conversions, whose owners hold something already, or removes it.
local function converts(r, yes)
  local _, members = places(r)
  if yes then
    local scored = {}
    for _, member in ipairs(members) do
      scored[#scored + 1] = '0'
      scored[#scored + 1] = member
    end
    in_portions('ZADD', QUEUE, scored)
  else
    in_portions('ZREM', QUEUE, members)
  end
  moved()
end

-- converting reports whether any conversion waits.
function lists.converting()
  local any = state.lists.c
  if any == nil then
    any = lists.any('c')
    state.lists.c = any
  end
  return any
end

-- conversions returns the tickets of the conversions on a node's list, as keys of a table.
function lists.conversions(list)
  local l = listed('c' .. list)
  if not l.has then
    l.has = {}
    for i = 1, #l do l.has[l[i]] = true end
  end
  return l.has
end

-- reclassify updates the lists of conversions after an owner has gained or lost the gate key: as
-- long as the owner has anything, all its queued requests are conversions.
local function reclassify(owner)
  local yes = holding(owner) or gate_is_of(owner)
  for _, ticket in ipairs(tickets_of(owner)) do
    local r = request(ticket)
    if r then converts(r, yes) end
  end
end

-- enqueue gives a request a ticket, and a place on every node that it claims, until place (ms).
local function enqueue(r, place)
  touch()
  local last = tonumber(call('HGET', LOCKS, 'k') or 0)
  r.ticket = string.format('%016d', math.max(last + 1, NOW_MICROS))
  r.since = int(NOW)
  local scored = {}
  for _, member in ipairs(places(r)) do
    scored[#scored + 1] = '0'
    scored[#scored + 1] = member
  end
  local tickets = tickets_of(r.owner)
  tickets[#tickets + 1] = r.ticket
  write_request(r, 'k', r.ticket, 'r' .. r.owner, table.concat(tickets))
  in_portions('ZADD', QUEUE, scored)
  state.queued = true
  load_nodes(r.names)
  for i = 1, #r.names do
    local n = state.nodes[r.names[i]]
    if r.names[i] ~= GATE_NODE and band(n.waiting, BIT[r.modes[i]]) == 0 then
      n.waiting, n.dirty = n.waiting + BIT[r.modes[i]], true
    end
  end
  if holding(r.owner) or gate_is_of(r.owner) then converts(r, true) end
  call('ZADD', DEADLINES, int(place), 'w' .. r.ticket)
  moved()
end

-- dequeue takes a request out of the queue.
local function dequeue(r)
  touch()
  local members, further = places(r)
  if lists.converting() then
    for i = 1, #further do members[#members + 1] = further[i] end
  end
  in_portions('ZREM', QUEUE, members)
  call('ZREM', DEADLINES, 'w' .. r.ticket)
  local left, gone = {}, { 'w' .. r.ticket }
  for _, ticket in ipairs(tickets_of(r.owner)) do
    if ticket ~= r.ticket then left[#left + 1] = ticket end
  end
  if #left > 0 then
    call('HSET', LOCKS, 'r' .. r.owner, table.concat(left))
  else
    gone[2] = 'r' .. r.owner
  end
  state.tickets[r.owner], state.requests[r.ticket] = left, false
  state.queued = call('EXISTS', QUEUE) == 1
  if not state.queued then gone[#gone + 1] = 'k' end
  call('HDEL', LOCKS, unpack(gone))
  load_nodes(r.names)
  for i = 1, #r.names do
    local n, mode = state.nodes[r.names[i]], r.modes[i]
    if band(n.waiting, BIT[mode]) ~= 0 and not lists.any(r.names[i] .. mode) then
      n.waiting, n.dirty = n.waiting - BIT[mode], true
    end
  end
  moved()
end

-- waits_on returns the modes in which requests wait for a node. The gate node does not note them:
-- its field is there only while anybody holds anything.
local function waits_on(name)
  if not state.queued then return 0 end
  if name == GATE_NODE then return BIT[IX] + BIT[X] end
  return node(name).waiting
end

-- waiters returns how many requests wait: each has one claim on the gate node.
function lists.waiters()
  return state.queued and call('ZLEXCOUNT', QUEUE, '[' .. GATE_NODE, '(' .. GATE_NODE .. AFTER_TICKETS) or 0
end

-- tell makes finish send a message to r's waiter.
local function tell(r, message)
  state.messages[#state.messages + 1] = { r.channel, message }
end
