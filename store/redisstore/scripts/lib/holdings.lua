-- What owners hold: their grants, and the modes that follow from them.

-- unpack_holding reads an owner's record: its grants, and the supremum of their modes on each node.
local function unpack_holding(record)
  local h = { grants = {}, modes = {} }
  local at = 1
  while at <= #record do
    local id, fence, since, claims, paths, note
    id, fence, since, claims, paths, note, at = struct.unpack(GRANT, record, at)
    h.grants[#h.grants + 1] = { id = id, fence = fence, since = since, claims = claims, paths = paths, note = note }
    local names, modes = split(claims)
    for i = 1, #names do
      local name, own = names[i], h.modes[names[i]]
      h.modes[name] = own and supremum(own, modes[i]) or modes[i]
    end
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

-- packed returns the record of an owner's grants.
local function packed(h)
  local parts = {}
  for i, g in ipairs(h.grants) do
    parts[i] = pack_grant(g.id, g.fence, g.since, g.claims, g.paths, g.note)
  end
  return table.concat(parts)
end

-- apart_ends returns when a grant's own lease ends (ms), or nil if the grant is not apart.
local function apart_ends(owner, id) return tonumber(call('ZSCORE', DEADLINES, apart_member(owner, id)) or nil) end

local function write_holding(owner, h)
  state.holdings[owner] = h
  call('HSET', LOCKS, 'o' .. owner, packed(h))
end
