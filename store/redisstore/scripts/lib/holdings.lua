-- What owners hold: their grants, and the modes that follow from them.

-- unpack_holding reads an owner's record: its grants, and for each node the supremum of their modes.
local function unpack_holding(record)
  local h = { grants = {}, modes = {} }
  local at = 1
  while at <= #record do
    local g = {}
    g.id, g.fence, g.since, g.claims, g.paths, g.note, at = struct.unpack(GRANT, record, at)
    h.grants[#h.grants + 1] = g
    local names, modes = split(g.claims)
    for i = 1, #names do h.modes[names[i]] = supremum(h.modes[names[i]] or 0, modes[i]) end
  end
  return h
end

-- holding returns what an owner holds, or nil.
local function holding(owner)
  local h = state.holdings[owner]
  if h ~= nil then return h or nil end
  local record = call('HGET', LOCKS, 'o' .. owner)
  h = record and unpack_holding(record)
  state.holdings[owner] = h
  return h or nil
end

-- packed returns what is written of an owner's grants.
local function packed(h)
  local parts = {}
  for i, g in ipairs(h.grants) do
    parts[i] = pack_grant(g.id, g.fence, g.since, g.claims, g.paths, g.note)
  end
  return table.concat(parts)
end

local function write_holding(owner, h)
  state.holdings[owner] = h
  call('HSET', LOCKS, 'o' .. owner, packed(h))
end
