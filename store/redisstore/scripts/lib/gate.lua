-- The gate key is a lock of github.com/bsm/redislock: a token of 22 characters, then the note,
-- which redislock calls metadata. Other programs take and release it with redislock alone. Our
-- token is derived from the owner, so the key says whose it is.
--
-- The key keeps newcomers out: while it is another's, an owner that holds nothing in the tree gets
-- no node (obstacle, in grant; the fast paths leave a tree with a gate key to it). A granted gate
-- has X on GATE_NODE, too, where each node lock has an intention: those two exclude each other as
-- nodes do. An owner that holds something already may take more nodes, so that it can finish, but
-- not the gate. Release, renewal and transfer ignore the keys of others.

local TOKEN_BYTES = 22

local function token_of(owner) return sub(redis.sha1hex('gate:' .. owner), 1, TOKEN_BYTES) end

-- What stands for the value of a gate key that is not a string, such as the hash of another
-- library's lock. It is somebody else's gate while it is there.
local NOT_A_STRING = '(not a string)'

local function read_gate()
  local value = redis.pcall('GET', GATE)
  if type(value) ~= 'table' then return value end
  if value.err:find('WRONGTYPE', 1, true) then return NOT_A_STRING end
  error(value)
end

local function gate()
  if state.gate == nil then state.gate = read_gate() end
  return state.gate
end

local function gate_is_of(owner)
  return gate() and sub(gate(), 1, TOKEN_BYTES) == token_of(owner)
end

local function gate_is_others(owner)
  return gate() and not gate_is_of(owner)
end

local function take_gate(owner, note, till)
  state.gate = token_of(owner) .. note
  call('SET', GATE, state.gate, 'PXAT', int(till))
end

local function drop_gate(owner)
  if gate_is_of(owner) then
    call('DEL', GATE)
    state.gate = false
    return true
  end
  return false
end
