-- The lock table of one tree: what it consists of and how it is read and written.
-- This file, queue.lua and handover.lua stand in front of every script, in this order.
--
-- KEYS of every script; all of them carry the tree's hash tag:
--   1 locks      hash   fields:
--                         n<8 bytes>   node: how many owners hold it, and in which mode (see unpack_node)
--                         gate-node    the same for the gate, which is treated as a node above the root: who
--                                      holds anything in the tree has IX on it, who has the gate has X
--                         o<owner>     the grants of an owner (see GRANT)
--                         w<ticket>    a queued request (see REQUEST in queue.lua)
--                         r<owner>     the tickets of an owner's queued requests, 16 digits each
--                         k            the last ticket given out
--                         p            queues that a hand-over has yet to look through (see handover.lua)
--                         x            set while somebody waits because the gate key is another's
--   2 deadlines  zset   o<owner> or w<ticket> -> when its lease or its place in the queue ends, ms
--   3 queue      zset   all scores 0; <node><mode><ticket> for each claim of each queued request, so that ZRANGEBYLEX
--                       gives those who want a node in a mode in order of arrival; and c<ticket> for those
--                       whose owner already holds something
--   4 fence      string the last fence given out
--   5 gate       string a redislock key: token and note of the gate's holder
--
-- Modes are numbers in the order of their strength: 1 IS, 2 IX, 3 S, 4 SIX, 5 X; 0 is none.
-- A claim is ten bytes: the node's name and the mode's digit. A claim set is claims one after the other,
-- the one on the gate node first. No node stands in it twice.
--
-- Nodes and grants are read once and changed in memory; finish() writes the nodes back.

local LOCKS, DEADLINES, QUEUE, FENCE, GATE = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]

local call = redis.call
local IS, IX, S, SIX, X = 1, 2, 3, 4, 5
local GATE_NODE = 'gate-node'
local NAME_BYTES = 9
local CLAIM_BYTES = NAME_BYTES + 1

-- CONFLICTS[a] lists the modes that another owner cannot have beside a (Gray et al. 1976, table 1).
local CONFLICTS = { [0] = {}, { X }, { S, SIX, X }, { IX, SIX, X }, { IX, S, SIX, X }, { IS, IX, S, SIX, X } }
local COMPATIBLE = {}
for a = 0, X do
  COMPATIBLE[a] = { true, true, true, true, true }
  for _, b in ipairs(CONFLICTS[a]) do COMPATIBLE[a][b] = false end
end

-- The server's clock is the only one that counts.
local clock = call('TIME')
local NOW = clock[1] * 1000 + math.floor(clock[2] / 1000)
local NOW_MICROS = clock[1] * 1000000 + clock[2]

-- int writes a whole number: tostring would lose digits from 1e14 on.
local function int(n) return string.format('%d', n) end

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

-- split reads a claim set into names and modes.
local function split(claims)
  local names, modes = {}, {}
  local n = 0
  for i = 1, #claims, CLAIM_BYTES do
    n = n + 1
    names[n] = string.sub(claims, i, i + NAME_BYTES - 1)
    modes[n] = string.byte(claims, i + NAME_BYTES) - 48
  end
  return names, modes
end

-- Nodes -------------------------------------------------------------------------------------------

-- A node's field is one number: mode + 8 * count + 8 * 2^24 * shared, where count owners have the node
-- in mode and shared owners have it in IS. That is enough, because between owners
-- IX and S never meet, and SIX and X are had by one.
local COUNTS = 16777216

local nodes = {}
local changed = false

local function unpack_node(value)
  local v = tonumber(value or 0)
  return {
    mode = v % 8,
    count = math.floor(v / 8) % COUNTS,
    shared = math.floor(v / (8 * COUNTS)),
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
  return (shared == 0 or want ~= X) and (count == 0 or COMPATIBLE[want][n.mode])
end

-- recount notes that one owner's mode on a node changes. n.before remembers what the node was when it last
-- became weaker, for hand_over to see whom that lets in.
local function recount(name, from, to)
  local n = node(name)
  if not n.before and to < from then
    n.before = { mode = n.mode, count = n.count, shared = n.shared }
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
        kept[#kept + 1] = int(n.mode + 8 * n.count + 8 * COUNTS * n.shared)
      end
      n.dirty = false
    end
  end
  in_portions('HDEL', LOCKS, gone)
  in_portions('HSET', LOCKS, kept)
end

-- Grants ------------------------------------------------------------------------------------------

-- An owner's field is its grants one after the other, each of six strings with four bytes of length
-- before them: id, fence, since (ms), claims, paths, note. Paths are for snapshots alone; no script reads them.
local GRANT = '>I4c0I4c0I4c0I4c0I4c0I4c0'

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

local function write_holding(owner, h)
  local parts = {}
  for i, g in ipairs(h.grants) do
    parts[i] = struct.pack(GRANT, #g.id, g.id, #g.fence, g.fence, #g.since, g.since,
      #g.claims, g.claims, #g.paths, g.paths, #g.note, g.note)
  end
  call('HSET', LOCKS, 'o' .. owner, table.concat(parts))
end

-- The gate key --------------------------------------------------------------------------------------

-- The gate key is a lock of github.com/bsm/redislock: a token of 22 characters and then what redislock calls
-- metadata, the note. Other programs take and release it with redislock alone. Ours has a token made from
-- the owner, so that the key tells whose it is.
local TOKEN_BYTES = 22

local function token_of(owner) return string.sub(redis.sha1hex('gate:' .. owner), 1, TOKEN_BYTES) end

local gate_value

local function gate()
  if gate_value == nil then gate_value = call('GET', GATE) end
  return gate_value
end

local function gate_is_of(owner)
  return gate() and string.sub(gate(), 1, TOKEN_BYTES) == token_of(owner)
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
