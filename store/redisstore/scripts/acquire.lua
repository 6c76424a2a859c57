-- ACQUIRE grants a whole claim set or nothing, and queues the request if it may wait.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate, 6 thin
-- ARGV  1 owner, 2 grant id, 3 lease in ms, 4 how much longer to wait in ms (0: not at all),
--       5 channel and 6 reference to wake the waiter by, 7 claims, 8 paths, 9 note,
--       10 '1' if the owner believes that it holds something already, 11 how many may wait in the tree,
--       12 '1' for a grant with a lease of its own,
--       13 '1' if it will be asked again soon where there is no answer, with a number of ms then: for so long it is remembered
--       that the first question is to be granted nothing, should it come later; '0' otherwise,
--       14 what the answer 'searching' gave
-- Reply {status, more, ...}; more is '1' if PROCEED should be called
--       {'granted', more, fence}         the lease lives from now on, also if the grant was made before
--       {'queued', more, claim, ms}      come back after so long if nothing was heard until then
--       {'busy', more, claim}            the number of the claim that cannot be granted, counted from 1
--       {'full', more, claim}            the same, and too many wait already
--       {'lost', more}                   the owner holds nothing any more, and does not wait either
--       {'withdrawn', more}              the request has been withdrawn before it came
--       {'deadlock', more, claim, owner} who has that claim and waits, directly or through others, for this owner
--       {'searching', more, so far}      ask again at once with that: whether there is a deadlock takes another portion to find out,
--                                        and until then nothing is queued
--
-- The same owner and grant id get the same answer again; a request that is queued keeps its
-- place, and the place is made to last for another while.

local GATE_RECHECK = 200 -- ms: a gate key of another program goes away without a word

local r = {
  owner = ARGV[1], id = ARGV[2], lease = ARGV[3], channel = ARGV[5], ref = ARGV[6],
  claims = ARGV[7], paths = ARGV[8], note = ARGV[9], apart = ARGV[12],
}
local wait = tonumber(ARGV[4])
r.till, r.seen = int(NOW + wait), int(NOW)
r.names, r.modes = split(r.claims)
r.gate = r.modes[1] == X

-- ticket_of returns the ticket that a request of r's owner and id has, and the request.
local function ticket_of()
  for _, ticket in ipairs(tickets_of(r.owner)) do
    local earlier = request(ticket)
    if earlier and earlier.id == r.id then return ticket, earlier end
  end
  return nil
end

-- What a question is known by of which the asker knows that it may come late.
local DIRECT = 'direct '

open()

-- Not a write that needs memory: who waits already goes on waiting at maxmemory too.
local _, before = ticket_of()
if before then spare_memory() end

-- What has ended, and who waits, comes before this request.
sweep(r.owner, r.id)
hand_over()

-- The request itself may have been what closed a cycle then, and has left the queue.
if before and before.deadlock then return { 'deadlock', finish(), unpack(before.deadlock) } end

if #ARGV[13] > 1 then withdrawn.remember(r.owner, DIRECT .. r.id, tonumber(ARGV[13])) end

local held = holding(r.owner)
if ARGV[13] == '1' and withdrawn.has(r.owner, DIRECT .. r.id) then
  return { 'withdrawn', finish() }
end
if held then
  for _, g in ipairs(held.grants) do
    if g.id == r.id then
      spare_memory()
      prolong_grant(r.owner, r.id, NOW + r.lease)
      return { 'granted', finish(), g.fence }
    end
  end
end
local ticket, earlier = ticket_of()
if ticket then
  if call('ZSCORE', QUEUE, r.names[1] .. r.modes[1] .. ticket) then
    r.ticket, r.since = ticket, earlier.since
  else
    dequeue(earlier) -- its place is gone: the queue has been deleted
  end
end

if not r.ticket and withdrawn.has(r.owner, r.id) then
  return { 'withdrawn', finish() }
end
-- Who is in the queue has not been evicted, but has given back in good order what it had.
if ARGV[10] == '1' and not held and not r.ticket then
  return { 'lost', finish() }
end

-- A dead waiter's place must not outlast its lease; a live one comes back in time.
local place = NOW + math.min(tonumber(r.lease), wait + 1000)

-- For a request of a holder that waits for other waiters, nothing can have changed that the script
-- that changed it has not looked at: only what is cheap to find out is asked.
local at, by
if r.ticket and wait > 0 and held and lists.keep_back(r.ticket) then
  at, by = 1, 'waiter'
else
  at, by = obstacle(r)
end
if r.gate and (not at or (by == 'holder' and wait > 0 and (gate_is_of(r.owner) or may_close(r)))) then
  -- The gate is r's from here on: no new owner gets in while the present ones come to their end.
  if not gate_is_of(r.owner) or not (held and held.modes[GATE_NODE] == X) then
    touch()
    close(r, place)
  end
end

if not at then
  if r.ticket then dequeue(r) end
  r.seen = nil
  local fence = grant(r)
  settle(r.owner)
  return { 'granted', finish(), fence }
end

if wait <= 0 then
  if r.ticket then leave(r) end
  return { 'busy', finish(), at }
end

-- give_up takes back what the request has got so far: a place in the queue, or the gate key.
local function give_up()
  if r.ticket then
    leave(r)
  elseif r.gate and not (held and held.modes[GATE_NODE] == X) then
    if drop_gate(r.owner) then reclassify(r.owner) end
  end
end

if not r.ticket and (held or gate_is_of(r.owner)) then
  -- One that asks for the gate may have got its key already: it cannot stay so.
  local claim, blocker, so_far = cycle(r, not r.gate and (ARGV[14] or '') or nil)
  if so_far then return { 'searching', finish(), so_far } end
  if claim then
    give_up()
    return { 'deadlock', finish(), claim, blocker }
  end
end

if not r.ticket and lists.waiters() >= tonumber(ARGV[11]) then
  give_up()
  return { 'full', finish(), at }
end

if r.ticket then
  touch()
  write_request(r)
  state.requests[r.ticket] = r
  call('ZADD', DEADLINES, int(place), 'w' .. r.ticket)
else
  enqueue(r, place)
end
kept_back(r, by)
if by == 'gate' then await_gate() end

local more = finish()
local first = call('ZRANGE', DEADLINES, '0', '0', 'WITHSCORES')
local ms = math.max((first[2] or NOW) - NOW, 0) + 1
if by == 'gate' then ms = math.min(ms, GATE_RECHECK) end
return { 'queued', more, at, int(ms) }
