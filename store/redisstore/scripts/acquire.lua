-- ACQUIRE grants a whole claim set or nothing. It queues the request if the request may wait.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate, 6 withdrawn
-- ARGV  1 owner, 2 grant id, 3 lease in ms, 4 how much longer to wait in ms (0: not at all),
--       5 channel and 6 reference to wake the waiter by, 7 claims, 8 paths, 9 note,
--       10 origin, 11 '1' if the owner believes that it holds something already,
--       12 how many requests may wait in the tree,
--       13 '1' for a grant with a lease of its own
-- Reply {status, ...}
--       {'granted', fence}     the lease runs from now on, even if the grant is older
--       {'queued', claim, ms}  ask again after so long if no message came until then
--       {'busy', claim}        the number of the claim that cannot be granted, counted from 1
--       {'full', claim}        the same, and too many requests wait already
--       {'lost'}               the owner no longer holds anything, nor does it wait
--       {'withdrawn'}          the request was withdrawn before it came
--       {'crowded', most}      the owner has that many grants and queued requests already
--       {'deadlock', claim, owner}
--                              that owner has the claim, and waits for this owner, directly or
--                              through others
--
-- The same owner and grant id get the same answer again. A request that is queued keeps its place,
-- and asking again extends the time of that place.

local GATE_RECHECK = 200 -- ms; another program's gate key goes away without a message
local MOST_GRANTS = 3000 -- of one owner: cmsgpack.pack takes fewer than 4,000 at once

local r = {
  owner = ARGV[1], id = ARGV[2], lease = ARGV[3], channel = ARGV[5], ref = ARGV[6],
  claims = ARGV[7], paths = ARGV[8], note = ARGV[9], origin = ARGV[10],
  apart = ARGV[13],
}
local wait = tonumber(ARGV[4])
r.till, r.seen = int(NOW + wait), int(NOW)
r.names, r.modes = split(r.claims)
r.gate = r.modes[1] == X

-- ticket_of returns the ticket of the queued request with r's owner and grant id, and that request.
local function ticket_of()
  for _, ticket in ipairs(tickets_of(r.owner)) do
    local earlier = request(ticket)
    if earlier and earlier.id == r.id then return ticket, earlier end
  end
  return nil
end

open()

-- A request that waits already must keep waiting at maxmemory too, so the first write needs no
-- memory.
local _, before = ticket_of()
if before then spare_memory() end

-- Expired leases and earlier waiters come before this request.
sweep()
hand_over()

-- This request itself may have closed a cycle in that hand-over. Then recheck_waits has removed it
-- from the queue.
if before and before.deadlock then return finish('deadlock', unpack(before.deadlock)) end

local held, before_this = holding(r.owner), grant_of(r.owner, r.id)
if before_this then
  spare_memory()
  prolong(r.owner, r.id, NOW + r.lease)
  return finish('granted', before_this.fence)
end
local ticket, earlier = ticket_of()
if ticket then r.ticket, r.since = ticket, earlier.since end

if not r.ticket and call('EXISTS', WITHDRAWN) == 1 then return finish('withdrawn') end
-- An owner with a request in the queue was not evicted: it gave back what it held in good order. So
-- only an owner without one has lost its holds.
if ARGV[11] == '1' and not held and not r.ticket then
  return finish('lost')
end

if not r.ticket and (held and #held.grants or 0) + #tickets_of(r.owner) >= MOST_GRANTS then
  return finish('crowded', MOST_GRANTS)
end

-- A dead waiter's place must not outlast its lease. A live waiter asks again in time.
local place = NOW + math.min(tonumber(r.lease), wait + 1000)

local at, by = obstacle(r)
if r.gate and (not at or (by == 'holder' and wait > 0 and (gate_is_of(r.owner) or may_close(r)))) then
  -- The gate is r's from here on: no new owner gets in while the present ones drain.
  if not gate_is_of(r.owner) or not (held and held.modes[GATE_NODE] == X) then
    touch()
    close(r, place)
  end
end

if not at then
  if r.ticket then dequeue(r) end
  r.seen = nil
  local fence = grant(r)
  recheck_waits(r.owner)
  return finish('granted', fence)
end

if wait <= 0 then
  if r.ticket then leave(r) end
  return finish('busy', at)
end

-- give_up takes back what the request has so far: a place in the queue, or the gate key.
local function give_up()
  if r.ticket then
    leave(r)
  elseif r.gate and not (held and held.modes[GATE_NODE] == X) then
    if drop_gate(r.owner) then reclassify(r.owner) end
  end
end

if not r.ticket and (held or gate_is_of(r.owner)) then
  local claim, blocker = deadlock(r)
  if claim then
    give_up()
    return finish('deadlock', claim, blocker)
  end
end

if not r.ticket and lists.waiters() >= tonumber(ARGV[12]) then
  give_up()
  return finish('full', at)
end

if r.ticket then
  touch()
  write_request(r)
  call('ZADD', DEADLINES, int(place), 'w' .. r.ticket)
else
  enqueue(r, place)
end

local reply = finish('queued', at)
local first = call('ZRANGE', DEADLINES, '0', '0', 'WITHSCORES')
local ms = math.max((first[2] or NOW) - NOW, 0) + 1
-- When a gate that the table knows of goes, its waiters are told.
if by == 'gate' and node(GATE_NODE).mode ~= X and not closer() then ms = math.min(ms, GATE_RECHECK) end
reply[3] = int(ms)
return reply
