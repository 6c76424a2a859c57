-- What owners hold: their grants, and the modes that follow from them.

-- unpack_holding reads an owner's record: its grants, and the supremum of their modes on each node.
local function unpack_holding(record)
  local h = { grants = { cmsgpack.unpack(record) }, modes = {} }
  for _, g in ipairs(h.grants) do
    local names, modes = split(g.claims)
    for i = 1, #names do h.modes[names[i]] = supremum(h.modes[names[i]] or 0, modes[i]) end
  end
  return h
end

-- holding returns what an owner holds, or nil.
local function holding(owner)
  local h = state.holdings[owner]
  if h == nil then
    local record = call('HGET', LOCKS, 'o' .. owner)
    h = record and unpack_holding(record)
    state.holdings[owner] = h
  end
  return h or nil
end

-- packed returns the record of an owner's grants.
local function packed(h) return cmsgpack.pack(unpack(h.grants)) end

-- grant_of returns an owner's grant with an id, or nil.
local function grant_of(owner, id)
  local held = holding(owner)
  for _, g in ipairs(held and held.grants or {}) do
    if g.id == id then return g end
  end
  return nil
end

-- apart_ends returns when a grant's own lease ends (ms), or nil if the grant is not apart.
local function apart_ends(owner, id) return tonumber(call('ZSCORE', DEADLINES, apart_member(owner, id)) or nil) end

local function write_holding(owner, h)
  state.holdings[owner] = h
  call('HSET', LOCKS, 'o' .. owner, packed(h))
end
