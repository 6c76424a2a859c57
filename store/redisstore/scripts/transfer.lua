-- TRANSFER gives everything that an owner holds to another, or to the same, and sets the end of its lease if it is told to.
--
-- KEYS  1 locks, 2 deadlines, 3 queue, 4 fence, 5 gate, 6 thin
-- ARGV  1 the owner who holds, 2 the owner who is to hold, 3 how long the lease is to last from now, ms, or 0
-- Reply {status, more, ...}; more is '1' if PROCEED should be called
--       {'transferred', more, ms, grants}  what is left of the lease, and the second owner's record (see GRANT in record.lua)
--       {'lost', more}                     the first owner holds nothing (any more)
--       {'taken', more}                    the second owner holds something of its own
--
-- A transfer that is sent again finds that the second owner has everything already, and is answered as the first time.
-- Requests of the first owner that wait keep waiting, as those of an owner who holds nothing.

local from, to, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])

open()
spare_memory()
sweep(from)

-- transferred returns the answer: what an owner holds, and until when.
local function transferred(owner, till)
  local grants = packed(holding(owner))
  return { 'transferred', finish(), int(till - NOW), grants }
end

-- ends_of returns when an owner's lease ends.
local function ends_of(owner) return tonumber(call('ZSCORE', DEADLINES, 'o' .. owner) or 0) end

local held = holding(from)
local till = ends_of(from)
if not held or till <= NOW then
  local theirs = from ~= to and ends_of(to) or 0
  if theirs > NOW and holding(to) then return transferred(to, theirs) end
  return { 'lost', finish() }
end
if from ~= to and holding(to) then return { 'taken', finish() } end

local has_gate = held.modes[GATE_NODE] == X
if has_gate and not gate_is_of(from) then
  -- As in RENEW: who has the gate needs the gate key.
  evict(from)
  return { 'lost', finish() }
end

if lease > 0 then till = NOW + lease end
touch()
call('ZADD', DEADLINES, int(till), 'o' .. to)
if from ~= to then
  -- One command, so that never both hold, nor neither.
  call('HSET', LOCKS, 'o' .. to, packed(held), 'o' .. from, '')
  call('HDEL', LOCKS, 'o' .. from)
  call('ZREM', DEADLINES, 'o' .. from)
  state.holdings[from], state.holdings[to] = false, held
  moved()
end
if has_gate then take_gate(to, sub(gate(), TOKEN_BYTES + 1), till) end
if from ~= to then settle(from) end
return transferred(to, till)
