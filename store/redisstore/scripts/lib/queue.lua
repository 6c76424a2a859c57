-- The queue of one tree: the waiters, in order of arrival.

local TICKET_BYTES = 16
local AFTER_TICKETS = '~' -- sorts behind every ticket

-- The requests that were withdrawn, possibly before they came. One table has all functions for
-- them, because a Lua function can use at most sixty names from outside.
local withdrawn = {}

-- remember makes the store grant such a request nothing, should it come within so many ms.
function withdrawn.remember(owner, id, ms)
  local member = withdrawal(owner, id)
  touch()
  call('ZADD', DEADLINES, int(NOW + ms), member)
  call('HSET', LOCKS, member, '')
end

-- has reports whether a request was withdrawn.
function withdrawn.has(owner, id) return call('HEXISTS', LOCKS, withdrawal(owner, id)) == 1 end

-- unpack_request reads a request's record, if there is one.
local function unpack_request(ticket, record)
  if not record then return false end
  local owner, id, lease, till, since, seen, channel, ref, claims, paths, note, apart = struct.unpack(REQUEST, record)
  local names, modes = split(claims)
  return {
    ticket = ticket, owner = owner, id = id, lease = lease, till = till, since = since, seen = seen, channel = channel, ref = ref,
    claims = claims, paths = paths, note = note, apart = apart, names = names, modes = modes, gate = modes[1] == X,
  }
end

-- load_requests reads those requests that have not been read yet.
local function load_requests(tickets)
  local requests, missing, fields = state.requests, {}, {}
  for _, ticket in ipairs(tickets) do
    if requests[ticket] == nil then
      missing[#missing + 1] = ticket
      fields[#fields + 1] = 'w' .. ticket
    end
  end
  for i = 1, #missing, PORTION do
    local last = math.min(i + PORTION - 1, #missing)
    local records = call('HMGET', LOCKS, unpack(fields, i, last))
    for j = i, last do requests[missing[j]] = unpack_request(missing[j], records[j - i + 1]) end
  end
end

-- request returns a queued request by its ticket, or nil.
local function request(ticket)
  local r = state.requests[ticket]
  if r == nil then
    r = unpack_request(ticket, call('HGET', LOCKS, 'w' .. ticket))
    state.requests[ticket] = r
  end
  return r or nil
end

local function write_request(r)
  call('HSET', LOCKS, 'w' .. r.ticket, struct.pack(REQUEST, #r.owner, r.owner, #r.id, r.id, #r.lease, r.lease,
    #r.till, r.till, #r.since, r.since, #r.seen, r.seen, #r.channel, r.channel, #r.ref, r.ref,
    #r.claims, r.claims, #r.paths, r.paths, #r.note, r.note,
    #r.apart, r.apart))
end

-- split_tickets reads tickets that are written one after the other.
local function split_tickets(all)
  local tickets = {}
  for i = 1, #all, TICKET_BYTES do tickets[#tickets + 1] = sub(all, i, i + TICKET_BYTES - 1) end
  return tickets
end

-- tickets_of returns the tickets of an owner's queued requests.
local function tickets_of(owner)
  local tickets = state.tickets[owner]
  if not tickets then
    tickets = split_tickets(state.queued and call('HGET', LOCKS, 'r' .. owner) or '')
    state.tickets[owner] = tickets
  end
  return tickets
end

local function write_tickets(owner, tickets)
  state.tickets[owner] = tickets
  if #tickets == 0 then
    call('HDEL', LOCKS, 'r' .. owner)
  else
    call('HSET', LOCKS, 'r' .. owner, table.concat(tickets))
  end
end

-- load_owners reads the holdings and the tickets of those owners that have not been read yet.
local function load_owners(owners)
  local missing, fields = {}, {}
  for _, owner in ipairs(owners) do
    if state.holdings[owner] == nil then
      missing[#missing + 1] = owner
      fields[#fields + 1] = 'o' .. owner
      fields[#fields + 1] = 'r' .. owner
    end
  end
  for i = 1, #fields, PORTION do
    local last = math.min(i + PORTION - 1, #fields)
    local values = call('HMGET', LOCKS, unpack(fields, i, last))
    for j = 1, #values, 2 do
      local owner = missing[(i + j) / 2]
      state.holdings[owner] = values[j] and unpack_holding(values[j])
      state.tickets[owner] = state.tickets[owner] or split_tickets(values[j + 1] or '')
    end
  end
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

-- What else the lists of the queue tell, in one table because of the same limit of sixty names.
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
    any = lists.any('c' .. GATE_NODE .. IX) or lists.any('c' .. GATE_NODE .. X)
    state.lists.c = any
  end
  return any
end

-- conversions returns the tickets of the conversions on a node's list, as keys of a table.
function lists.conversions(list)
  local l = listed('c' .. list)
  if not l.has then
    local has = {}
    for i = 1, #l do has[l[i]] = true end
    l.has = has
  end
  return l.has
end

-- reclassify updates the lists of conversions after an owner has got or lost the gate key: as long
-- as the owner has anything, all its queued requests are conversions.
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
  call('HSET', LOCKS, 'k', r.ticket)
  write_tickets(r.owner, tickets)
  write_request(r)
  in_portions('ZADD', QUEUE, scored)
  state.queued = true
  state.requests[r.ticket] = r
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
  if call('ZSCORE', QUEUE, further[1]) then
    for i = 1, #further do members[#members + 1] = further[i] end
  end
  in_portions('ZREM', QUEUE, members)
  call('ZREM', DEADLINES, 'w' .. r.ticket)
  call('HDEL', LOCKS, 'w' .. r.ticket)
  local left = {}
  for _, ticket in ipairs(tickets_of(r.owner)) do
    if ticket ~= r.ticket then left[#left + 1] = ticket end
  end
  write_tickets(r.owner, left)
  state.requests[r.ticket] = false
  state.queued = call('EXISTS', QUEUE) == 1
  if not state.queued then call('HDEL', LOCKS, 'k') end
  load_nodes(r.names)
  for i = 1, #r.names do
    local n, mode = state.nodes[r.names[i]], r.modes[i]
    if band(n.waiting, BIT[mode]) ~= 0 then
      if not lists.any(r.names[i] .. mode) then
        n.waiting, n.dirty = n.waiting - BIT[mode], true
      end
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
  return call('ZLEXCOUNT', QUEUE, '[' .. GATE_NODE, '(' .. GATE_NODE .. AFTER_TICKETS)
end

-- tell has finish send a message to r's waiter.
local function tell(r, message)
  state.messages[#state.messages + 1] = { r.channel, message }
end
