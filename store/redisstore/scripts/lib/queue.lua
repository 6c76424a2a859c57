-- The queue of one tree: who waits, in order of arrival.

-- A queued request's field is twelve strings, packed as grants are: owner, grant id, lease (ms), until when
-- it waits (ms), since when (ms), when it last asked (ms), channel and reference to wake it by, claims, paths, note, '1' if it
-- is for a grant apart.
local REQUEST = '>I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0'
local TICKET_BYTES = 16
local AFTER_TICKETS = '~' -- sorts behind every ticket

-- What is known of requests that were withdrawn, possibly before they came. It is one table, as a function can use but sixty
-- names from outside of it.
local withdrawn = {}

local function tombstone(owner, id) return 't' .. redis.sha1hex(#owner .. ':' .. owner .. id) end

-- remember has such a request granted nothing, should it come within so many ms.
function withdrawn.remember(owner, id, ms)
  local member = tombstone(owner, id)
  touch()
  call('ZADD', DEADLINES, int(NOW + ms), member)
  call('ZADD', QUEUE, '0', member)
  state.queued = true
end

-- has reports whether a request is one of them.
function withdrawn.has(owner, id) return state.queued and call('ZSCORE', QUEUE, tombstone(owner, id)) end

-- request returns a queued request by its ticket, or nil.
local function request(ticket)
  local r = state.requests[ticket]
  if r ~= nil then return r or nil end
  local record = call('HGET', LOCKS, 'w' .. ticket)
  if not record then
    state.requests[ticket] = false
    return nil
  end
  r = { ticket = ticket }
  r.owner, r.id, r.lease, r.till, r.since, r.seen, r.channel, r.ref, r.claims, r.paths, r.note, r.apart =
    struct.unpack(REQUEST, record)
  r.names, r.modes = split(r.claims)
  r.gate = r.modes[1] == X
  state.requests[ticket] = r
  return r
end

local function write_request(r)
  call('HSET', LOCKS, 'w' .. r.ticket, struct.pack(REQUEST, #r.owner, r.owner, #r.id, r.id, #r.lease, r.lease,
    #r.till, r.till, #r.since, r.since, #r.seen, r.seen, #r.channel, r.channel, #r.ref, r.ref,
    #r.claims, r.claims, #r.paths, r.paths, #r.note, r.note,
    #r.apart, r.apart))
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

local function write_tickets(owner, tickets)
  state.tickets[owner] = tickets
  if #tickets == 0 then
    call('HDEL', LOCKS, 'r' .. owner)
  else
    call('HSET', LOCKS, 'r' .. owner, table.concat(tickets))
  end
end

-- listed returns the tickets on a list of the queue, in order of arrival. A list of conversions gives their owners, too.
local function listed(list)
  local l = state.lists[list]
  if not l then
    l = {}
    local owners = {}
    for i, member in ipairs(call('ZRANGEBYLEX', QUEUE, '[' .. list, '(' .. list .. AFTER_TICKETS)) do
      l[i] = sub(member, #list + 1, #list + TICKET_BYTES)
      owners[i] = sub(member, #list + TICKET_BYTES + 1)
    end
    l.owners = owners
    state.lists[list] = l
  end
  return l
end

-- moved notes that somebody was granted or has given up something, or has come to wait.
local function moved()
  state.lists, state.passing, state.moved = {}, {}, true
end

-- places returns the members of the queue that stand for a request, and those that stand for it as a conversion.
local function places(r)
  local members, conversions = {}, {}
  for i = 1, #r.names do
    local claim = r.names[i] .. r.modes[i] .. r.ticket
    members[i], conversions[i] = claim, 'c' .. claim .. r.owner
  end
  return members, conversions
end

-- converts puts a request among those whose owners hold something already, or takes it from there.
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
    members[#members + 1] = 'b' .. r.ticket
    in_portions('ZREM', QUEUE, members)
  end
  moved()
end

-- converting returns who waits and holds something already: an owner for each ticket, or nil if there is nobody.
local function converting()
  if not state.queued then return nil end
  local found = state.lists.c
  if found == nil then
    found = false
    for mode = IX, X, X - IX do
      local l = listed('c' .. GATE_NODE .. mode)
      for i, ticket in ipairs(l) do
        found = found or {}
        found[ticket] = l.owners[i]
      end
    end
    state.lists.c = found
  end
  return found or nil
end

-- reclassify sees to the list of conversions when an owner has got or lost the gate key: as long as the owner has
-- anything, all its queued requests are on it.
local function reclassify(owner)
  local yes = holding(owner) or gate_is_of(owner)
  for _, ticket in ipairs(tickets_of(owner)) do
    local r = request(ticket)
    if r then converts(r, yes) end
  end
end

-- enqueue gives a request a ticket and a place on every node that it claims, until place (ms).
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
  local members, conversions = places(r)
  if converting() then
    for i = 1, #conversions do members[#members + 1] = conversions[i] end
    members[#members + 1] = 'b' .. r.ticket
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
      local list = r.names[i] .. mode
      if not state.queued or #call('ZRANGEBYLEX', QUEUE, '[' .. list, '(' .. list .. AFTER_TICKETS, 'LIMIT', '0', '1') == 0 then
        n.waiting, n.dirty = n.waiting - BIT[mode], true
      end
    end
  end
  moved()
end

-- waits_on returns the modes in which a node is waited for. Nothing is noted of the gate's node, which is there only
-- as long as anybody holds anything.
local function waits_on(name)
  if not state.queued then return 0 end
  if name == GATE_NODE then return BIT[IX] + BIT[X] end
  return node(name).waiting
end

-- waiters returns how many requests wait: each has a claim on the gate node.
local function waiters()
  return call('ZLEXCOUNT', QUEUE, '[' .. GATE_NODE, '(' .. GATE_NODE .. AFTER_TICKETS)
end

-- tell sends a message to whoever waits for r. A channel with a hash tag is in the tree's slot of a cluster.
local function tell(r, message)
  call(string.find(r.channel, '{', 1, true) and 'SPUBLISH' or 'PUBLISH', r.channel, message)
end
