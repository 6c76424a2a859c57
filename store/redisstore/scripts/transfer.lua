-- TRANSFER gives everything that an owner holds to another, or to the same. It also sets the end of
-- the lease if ARGV 3 says so.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate
-- ARGV  1 the owner that holds, 2 the owner that is to hold,
--       3 how long the lease is to last from now in ms, or 0 to keep its end
-- Reply {status, ...}
--       {'transferred', ms, id, fence, claims, paths, note, apart, ...}
--                         the rest of the lease, and for each of the second owner's grants six
--                         strings; apart is '1' if it has a lease of its own, '0' if not
--       {'lost'}    the first owner holds nothing, or no longer does
--       {'taken'}   the second owner holds something of its own
--
-- A transfer that is sent again finds that the second owner has everything already, and gets the
-- same answer. Requests of the first owner keep waiting, as those of an owner that holds nothing.

local from, to, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])

open()
spare_memory()
sweep()

-- transferred returns the reply: what an owner holds, and until when.
local function transferred(owner, till)
  local held = holding(owner)
  local reply = finish('transferred', int(till - NOW))
  for _, g in ipairs(held.grants) do
    for _, field in ipairs({ g.id, g.fence, g.claims, g.paths, g.note, apart_ends(owner, g.id) and '1' or '0' }) do
      reply[#reply + 1] = field
    end
  end
  return reply
end

-- ends_of returns when an owner's lease ends (ms).
local function ends_of(owner) return tonumber(call('ZSCORE', DEADLINES, 'o' .. owner) or 0) end

-- tell_all makes the waiters ask again: the answer tells them when the first lease ends.
local function tell_all()
  for mode = IX, X, X - IX do
    for _, ticket in ipairs(listed(GATE_NODE .. mode)) do
      local r = state.queued and request(ticket)
      if r then tell(r, 'again ' .. r.ref) end
    end
  end
end

local held = holding(from)
local till = ends_of(from)
if not held or till <= NOW then
  local theirs = from ~= to and ends_of(to) or 0
  if theirs > NOW and holding(to) then return transferred(to, theirs) end
  return finish('lost')
end
if from ~= to and holding(to) then return finish('taken') end

local has_gate = held.modes[GATE_NODE] == X
if has_gate and not gate_is_of(from) then
  -- As in RENEW: an owner that holds the gate needs the gate key.
  evict(from)
  return finish('lost')
end

local before = till
if lease > 0 then till = NOW + lease end
touch()
call('ZADD', DEADLINES, int(till), 'o' .. to)
if from ~= to then
  -- One command, so that there is no moment at which both hold, or neither.
  call('HSET', LOCKS, 'o' .. to, packed(held), 'o' .. from, '')
  call('HDEL', LOCKS, 'o' .. from)
  local ends = { 'o' .. from } -- all grants share the second owner's lease
  for i, g in ipairs(held.grants) do ends[i + 1] = apart_member(from, g.id) end
  in_portions('ZREM', DEADLINES, ends)
  state.holdings[from], state.holdings[to] = false, held
  moved()
end
if has_gate then take_gate(to, sub(gate(), TOKEN_BYTES + 1), till) end
time_gate(to)
if from ~= to then
  recheck_waits(from)
  recheck_waits(to)
end
if till < before then tell_all() end
return transferred(to, till)
