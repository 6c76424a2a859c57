-- Claims and grants, as they are written.

-- An owner's field is its grants one after the other, each of six strings with four bytes of length
-- before them: id, fence, since (ms), claims, paths, note. Paths are for snapshots alone; no script reads them.
local GRANT = '>I4c0I4c0I4c0I4c0I4c0I4c0'

local function pack_grant(id, fence, since, claims, paths, note)
  return struct.pack(GRANT, #id, id, #fence, fence, #since, since, #claims, claims, #paths, paths, #note, note)
end

-- split reads a claim set into names and modes.
local function split(claims)
  local names, modes = {}, {}
  local n = 0
  for i = 1, #claims, CLAIM_BYTES do
    n = n + 1
    names[n] = sub(claims, i, i + NAME_BYTES - 1)
    modes[n] = byte(claims, i + NAME_BYTES) - 48
  end
  return names, modes
end

-- A grant is apart if it has a deadline, that is a lease, of its own. All about that is in one table: a function can use but
-- sixty names from outside of it.
local apart = {}

-- of names the deadline of an apart grant.
function apart.of(owner, id) return 'g' .. #owner .. ':' .. owner .. id end

-- parts returns the owner and the grant id of such a name.
function apart.parts(member)
  local bytes, at = string.match(member, '^g(%d+):()')
  return sub(member, at, at + bytes - 1), sub(member, at + bytes)
end

-- ends returns when a grant's own lease ends, or nil if the grant is not apart.
function apart.ends(owner, id) return tonumber(call('ZSCORE', DEADLINES, apart.of(owner, id)) or nil) end

-- So many claims the short ways take, for unpack to do it.
local MOST_CLAIMS = 500
