-- The lock table of one tree: how it is read and written.
--
-- Nodes and grants are read once and changed in memory; finish() writes the nodes back.

-- compatible says whether two owners can have a node in modes a and b at once (Gray et al. 1976, table 1).
local function compatible(a, b)
  if a > b then a, b = b, a end
  return a == 0 or (a == IS and b ~= X) or (a == b and (a == IX or a == S))
end

-- conflicts_of lists the modes that another owner cannot have beside the given one.
local function conflicts_of(mode)
  local modes = {}
  for m = IS, X do
    if not compatible(mode, m) then modes[#modes + 1] = m end
  end
  return modes
end

local function supremum(a, b)
  if (a == IX and b == S) or (a == S and b == IX) then return SIX end
  return math.max(a, b)
end

-- in_portions calls a command with more arguments than unpack can take at once. The portion is even: pairs stay together.
local PORTION = 4000
local function in_portions(command, key, args)
  for i = 1, #args, PORTION do
    call(command, key, unpack(args, i, math.min(i + PORTION - 1, #args)))
  end
end

-- Nodes -------------------------------------------------------------------------------------------

local nodes = {}
local changed = false

local function unpack_node(value)
  local v = tonumber(value or 0)
  return {
    mode = v % ONE,
    count = math.floor(v % ONE_SHARED / ONE),
    shared = math.floor(v / ONE_SHARED),
  }
end

-- load_nodes reads those of the nodes that have not been read yet.
local function load_nodes(names)
  local missing = {}
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
  if not nodes[name] then nodes[name] = unpack_node(call('HGET', LOCKS, name)) end
  return nodes[name]
end

-- admits says whether the holders of a node, apart from an owner who has it in mode own, leave room for mode want.
local function admits(n, want, own)
  local shared, count = n.shared, n.count
  if own == IS then
    shared = shared - 1
  elseif own ~= 0 then
    count = count - 1
  end
  return (shared == 0 or want ~= X) and (count == 0 or compatible(want, n.mode))
end

-- weaker has, for each node that has become weaker, what it was before, for the hand-over to see whom that lets in.
local weaker = {}

-- recount notes that one owner's mode on a node changes.
local function recount(name, from, to)
  local n = node(name)
  if not weaker[name] and to < from then
    weaker[name] = { mode = n.mode, count = n.count, shared = n.shared }
  end
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
  changed = true
end

-- write_nodes writes what recount changed, deletions first: at maxmemory a script may only grow after it has shrunk.
local function write_nodes()
  local gone, kept = {}, {}
  for name, n in pairs(nodes) do
    if n.dirty then
      if n.shared == 0 and n.count == 0 then
        gone[#gone + 1] = name
      else
        kept[#kept + 1] = name
        kept[#kept + 1] = int(n.mode + ONE * n.count + ONE_SHARED * n.shared)
      end
      n.dirty = false
    end
  end
  in_portions('HDEL', LOCKS, gone)
  in_portions('HSET', LOCKS, kept)
end

-- Grants ------------------------------------------------------------------------------------------

local holdings = {}

-- holding returns what an owner holds, or nil: its grants, and for each node the supremum of their modes.
local function holding(owner)
  local h = holdings[owner]
  if h ~= nil then return h or nil end
  local record = call('HGET', LOCKS, 'o' .. owner)
  if not record then
    holdings[owner] = false
    return nil
  end
  h = { grants = {}, modes = {} }
  local at = 1
  while at <= #record do
    local g = {}
    g.id, g.fence, g.since, g.claims, g.paths, g.note, at = struct.unpack(GRANT, record, at)
    h.grants[#h.grants + 1] = g
    local names, modes = split(g.claims)
    for i = 1, #names do h.modes[names[i]] = supremum(h.modes[names[i]] or 0, modes[i]) end
  end
  holdings[owner] = h
  return h
end

-- packed returns what is written of an owner's grants.
local function packed(h)
  local parts = {}
  for i, g in ipairs(h.grants) do
    parts[i] = pack_grant(g.id, g.fence, g.since, g.claims, g.paths, g.note)
  end
  return table.concat(parts)
end

local function write_holding(owner, h) call('HSET', LOCKS, 'o' .. owner, packed(h)) end

-- A thin lock becomes one like all others. Nobody else is in the tree: what is written here, nothing is lost to.
local function inflate()
  if thin == nil then thin = call('GET', THIN) end
  if not thin then return end
  local owner, till, at = struct.unpack(THIN_HEAD, thin)
  local record = sub(thin, at)
  local _, _, _, claims = struct.unpack(GRANT, record)
  local fields = { 'o' .. owner, record }
  local names, modes = split(claims)
  for i = 1, #names do
    fields[#fields + 1] = names[i]
    fields[#fields + 1] = int(modes[i] == IS and ONE_SHARED or ONE + modes[i])
  end
  call('DEL', THIN) -- first, so that the rest may be written at maxmemory too
  in_portions('HSET', LOCKS, fields)
  call('ZADD', DEADLINES, till, 'o' .. owner)
  call('PEXPIREAT', LOCKS, till)
  call('PEXPIREAT', DEADLINES, till)
end
inflate()

-- The gate key --------------------------------------------------------------------------------------

-- The gate key is a lock of github.com/bsm/redislock: a token of 22 characters and then what redislock calls
-- metadata, the note. Other programs take and release it with redislock alone. Ours has a token made from
-- the owner, so that the key tells whose it is.
local TOKEN_BYTES = 22

local function token_of(owner) return sub(redis.sha1hex('gate:' .. owner), 1, TOKEN_BYTES) end

local gate_value

local function gate()
  if gate_value == nil then gate_value = call('GET', GATE) end
  return gate_value
end

local function gate_is_of(owner)
  return gate() and sub(gate(), 1, TOKEN_BYTES) == token_of(owner)
end

local function gate_is_others(owner)
  return gate() and not gate_is_of(owner)
end

local function take_gate(owner, note, till)
  gate_value = token_of(owner) .. note
  call('SET', GATE, gate_value)
  call('PEXPIREAT', GATE, int(till))
end

local function drop_gate(owner)
  if gate_is_of(owner) then
    call('DEL', GATE)
    gate_value = false
    return true
  end
  return false
end
