-- The queue of one tree: who waits, in order of arrival, and for whom.

-- A queued request's field is ten strings, packed as grants are: owner, grant id, lease (ms), until when
-- it waits (ms), since when (ms), channel and reference to wake it by, claims, paths, note.
local REQUEST = '>I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0'
local TICKET_BYTES = 16
local AFTER_TICKETS = '~' -- sorts behind every ticket

local requests = {}
local queued = call('EXISTS', QUEUE) == 1

-- request returns a queued request by its ticket, or nil.
local function request(ticket)
  local r = requests[ticket]
  if r ~= nil then return r or nil end
  local record = call('HGET', LOCKS, 'w' .. ticket)
  if not record then
    requests[ticket] = false
    return nil
  end
  r = { ticket = ticket }
  r.owner, r.id, r.lease, r.till, r.since, r.channel, r.ref, r.claims, r.paths, r.note = struct.unpack(REQUEST, record)
  r.names, r.modes = split(r.claims)
  r.gate = r.modes[1] == X
  requests[ticket] = r
  return r
end

local function write_request(r)
  call('HSET', LOCKS, 'w' .. r.ticket, struct.pack(REQUEST, #r.owner, r.owner, #r.id, r.id, #r.lease, r.lease,
    #r.till, r.till, #r.since, r.since, #r.channel, r.channel, #r.ref, r.ref,
    #r.claims, r.claims, #r.paths, r.paths, #r.note, r.note))
end

local tickets_by_owner = {}

-- tickets_of returns the tickets of an owner's queued requests.
local function tickets_of(owner)
  local tickets = tickets_by_owner[owner]
  if not tickets then
    tickets = {}
    local all = queued and call('HGET', LOCKS, 'r' .. owner) or ''
    for i = 1, #all, TICKET_BYTES do tickets[#tickets + 1] = sub(all, i, i + TICKET_BYTES - 1) end
    tickets_by_owner[owner] = tickets
  end
  return tickets
end

local function write_tickets(owner, tickets)
  tickets_by_owner[owner] = tickets
  if #tickets == 0 then
    call('HDEL', LOCKS, 'r' .. owner)
  else
    call('HSET', LOCKS, 'r' .. owner, table.concat(tickets))
  end
end

-- converts puts a request on the list of those whose owners hold something already, or takes it off.
local function converts(ticket, yes)
  if yes then
    call('ZADD', QUEUE, '0', 'c' .. ticket)
  else
    call('ZREM', QUEUE, 'c' .. ticket)
  end
end

-- reclassify sees to the list of conversions when an owner has got or lost the gate key: as long as the owner has
-- anything, all its queued requests are on it.
local function reclassify(owner)
  local yes = holding(owner) or gate_is_of(owner)
  for _, ticket in ipairs(tickets_of(owner)) do converts(ticket, yes) end
end

-- places returns the members of the queue that stand for a request.
local function places(r)
  local members = {}
  for i = 1, #r.names do members[i] = r.names[i] .. r.modes[i] .. r.ticket end
  return members
end

-- enqueue gives a request a ticket and a place on every node that it claims, until place (ms).
local function enqueue(r, place)
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
  if holding(r.owner) or gate_is_of(r.owner) then converts(r.ticket, true) end
  call('ZADD', DEADLINES, int(place), 'w' .. r.ticket)
  requests[r.ticket] = r
  queued, changed = true, true
end

-- dequeue takes a request out of the queue.
local function dequeue(r)
  local members = places(r)
  members[#members + 1] = 'c' .. r.ticket
  in_portions('ZREM', QUEUE, members)
  call('ZREM', DEADLINES, 'w' .. r.ticket)
  call('HDEL', LOCKS, 'w' .. r.ticket)
  local left = {}
  for _, ticket in ipairs(tickets_of(r.owner)) do
    if ticket ~= r.ticket then left[#left + 1] = ticket end
  end
  write_tickets(r.owner, left)
  requests[r.ticket] = false
  changed = true
end

-- waiters returns how many requests wait: each has a claim on the gate node.
local function waiters()
  return call('ZLEXCOUNT', QUEUE, '[' .. GATE_NODE, '(' .. GATE_NODE .. AFTER_TICKETS)
end

-- tell sends a message to whoever waits for r. A channel with a hash tag is in the tree's slot of a cluster.
local function tell(r, message)
  call(string.find(r.channel, '{', 1, true) and 'SPUBLISH' or 'PUBLISH', r.channel, message)
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

-- awaited returns some of the queue's members for a node.
local function awaited(name, most)
  return call('ZRANGEBYLEX', QUEUE, '[' .. name, '(' .. name .. AFTER_TICKETS, 'LIMIT', '0', most)
end

local GLANCE = 8

-- is_behind says whether another owner's request before the ticket claims the node in a mode that conflicts with
-- the given one. Where few wait for a node, as nearly everywhere, one look at the queue tells.
local function is_behind(name, mode, before, own)
  local members = awaited(name, int(GLANCE))
  for _, member in ipairs(members) do
    local ticket = sub(member, CLAIM_BYTES + 1)
    if ticket < before and not compatible(mode, byte(member, CLAIM_BYTES) - 48) and not is_in(own, ticket) then return true end
  end
  if #members < GLANCE then return false end
  for _, m in ipairs(conflicts_of(mode)) do
    if first_waiter(name, m, before, own) then return true end
  end
  return false
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

-- obstacle returns the number of the claim of r that cannot be granted now, and what stands in its
-- way: 'gate' for the gate key, 'waiter' for an earlier comer, 'holder'; or nil. r.ticket is nil if r is not queued. If
-- ahead is given, it has all who wait and came earlier, and the queue need not be asked.
--
-- An owner who holds something is kept back by holders alone: others may be waiting for it, so
-- that it must be able to come to its end. The gate key keeps it from the gate, not from nodes.
local function obstacle(r, ahead)
  local held = holding(r.owner)
  if gate_is_others(r.owner) and (r.gate or not held) then return 1, 'gate' end
  if queued and not held and not gate_is_of(r.owner) then
    local before, own = r.ticket or AFTER_TICKETS, not ahead and tickets_of(r.owner)
    for i = 1, #r.names do
      local name, mode = r.names[i], r.modes[i]
      local waiter
      if ahead then
        waiter = stands_in_the_way(ahead, name, mode, r.owner)
      else
        waiter = is_behind(name, mode, before, own)
      end
      if waiter then return i, 'waiter' end
    end
  end
  load_nodes(r.names)
  for i = 1, #r.names do
    local name = r.names[i]
    local own = held and held.modes[name] or 0
    local want = supremum(own, r.modes[i])
    if want ~= own and not admits(nodes[name], want, own) then return i, 'holder' end
  end
  return nil
end

-- waits_for says whether r needs something to go away that an owner has, and returns the number of the claim.
local function waits_for(r, owner)
  if r.gate and gate_is_of(owner) then return 1 end
  local other = holding(owner)
  if not other then return nil end
  local held = holding(r.owner)
  for i = 1, #r.names do
    local name = r.names[i]
    local theirs = other.modes[name] or 0
    local own = held and held.modes[name] or 0
    local want = supremum(own, r.modes[i])
    if want ~= own and theirs ~= 0 and not compatible(want, theirs) then return i end
  end
  return nil
end

-- cycle says whether r waits, directly or through others, for an owner who waits for r's owner. Such others
-- have something and wait: they are on the list of conversions, which is short. It returns the
-- number of the claim that cannot be had and the owner that has it, or nil.
local function cycle(r)
  if not queued then return nil end
  local waiting = {}
  for _, member in ipairs(call('ZRANGEBYLEX', QUEUE, '[c', '(c' .. AFTER_TICKETS)) do
    local other = request(sub(member, 2))
    if other and other.owner ~= r.owner then waiting[#waiting + 1] = other end
  end
  local seen = {}
  local function reaches(w)
    if waits_for(w, r.owner) then return true end
    for _, other in ipairs(waiting) do
      if not seen[other.ticket] and other.owner ~= w.owner and waits_for(w, other.owner) then
        seen[other.ticket] = true
        if reaches(other) then return true end
      end
    end
    return false
  end
  for _, other in ipairs(waiting) do
    local claim = waits_for(r, other.owner)
    if claim and not seen[other.ticket] then
      seen[other.ticket] = true
      if reaches(other) then return claim, other.owner end
    end
  end
  return nil
end
