-- The nodes of the tree: how many owners hold them, and in which modes requests wait for them.

-- The bit of each mode in a set of modes, and CONFLICTING as a table; 0 is no mode.
local BIT = { [0] = 0, 1, 2, 4, 8, 16 }
local CONFLICTS = { [0] = 0, byte(CONFLICTING, IS, X) }

local function compatible(a, b) return band(CONFLICTS[a], BIT[b]) == 0 end

local function supremum(a, b)
  if (a == IX and b == S) or (a == S and b == IX) then return SIX end
  return math.max(a, b)
end

-- in_portions calls a command with more arguments than unpack can return at once. The portion is
-- even, so pairs stay together.
local PORTION = 4000
local function in_portions(command, key, args)
  for i = 1, #args, PORTION do
    call(command, key, unpack(args, i, math.min(i + PORTION - 1, #args)))
  end
end

-- spare_memory is for scripts that must go on at maxmemory. It writes something that needs no
-- memory. After a first write, Redis lets a script write anything.
local function spare_memory() call('PEXPIRE', FENCE, FENCE_TTL) end

-- touch marks the table before the script changes anything in it. finish() removes the mark. So a
-- script that finds the mark knows that another failed half-way (see open.lua).
local function touch()
  if state.changed then return end
  state.changed = true
  call('HSET', LOCKS, 'l', AT_WORK)
  -- In case this creates the key, the script fails, and no other script ever comes.
  call('PEXPIRE', LOCKS, AT_WORK_TTL, 'NX')
end

local function unpack_node(value)
  local v = tonumber(value or 0)
  return {
    mode = v % ONE,
    count = floor(v % ONE_SHARED / ONE),
    shared = floor(v % ONE_WAITING / ONE_SHARED),
    waiting = floor(v / ONE_WAITING),
  }
end

-- load_nodes reads those nodes that have not been read yet.
local function load_nodes(names)
  local nodes, missing = state.nodes, {}
  for i = 1, #names do
    if not nodes[names[i]] then missing[#missing + 1] = names[i] end
  end
  for i = 1, #missing, PORTION do
    local last = math.min(i + PORTION - 1, #missing)
    local values = call('HMGET', LOCKS, unpack(missing, i, last))
    for j = i, last do nodes[missing[j]] = unpack_node(values[j - i + 1]) end
  end
end

local function node(name)
  local n = state.nodes[name]
  if not n then
    n = unpack_node(call('HGET', LOCKS, name))
    state.nodes[name] = n
  end
  return n
end

-- admits reports whether the holders of a node leave room for mode want, not counting an owner that
-- has the node in mode own.
local function admits(n, want, own)
  local shared, count = n.shared, n.count
  if own == IS then
    shared = shared - 1
  elseif own ~= 0 then
    count = count - 1
  end
  return (shared == 0 or want ~= X) and (count == 0 or compatible(want, n.mode))
end

-- free makes the hand-over look at those who wait for a node in some modes (see handover.lua).
local function free(name, modes) state.freed[name] = bit.bor(state.freed[name] or 0, modes) end

-- recount notes that the mode of one owner on a node changes.
local function recount(name, from, to)
  local n = node(name)
  if to < from then free(name, CONFLICTS[from]) end
  if from == IS then
    n.shared = n.shared - 1
  elseif from ~= 0 then
    n.count = n.count - 1
  end
  if to == IS then
    n.shared = n.shared + 1
  elseif to ~= 0 then
    n.count = n.count + 1
    n.mode = to
  end
  if n.count == 0 then n.mode = 0 end
  n.dirty = true
end

-- write_nodes writes the nodes that have changed.
local function write_nodes()
  local gone, kept = {}, {}
  for name, n in pairs(state.nodes) do
    if n.dirty then
      if n.shared == 0 and n.count == 0 and n.waiting == 0 then
        gone[#gone + 1] = name
      else
        kept[#kept + 1] = name
        kept[#kept + 1] = int(n.mode + ONE * n.count + ONE_SHARED * n.shared + ONE_WAITING * n.waiting)
      end
      n.dirty = false
    end
  end
  in_portions('HDEL', LOCKS, gone)
  in_portions('HSET', LOCKS, kept)
end
