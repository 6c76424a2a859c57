-- The written form of claims, grants and requests.

-- An owner's field is its grants, one after the other. A grant is six strings, each with its length
-- in four bytes before it: id, fence, since (ms), claims, paths, note. Paths are only for
-- snapshots; no script reads them.
local GRANT = '>I4c0I4c0I4c0I4c0I4c0I4c0'

local function pack_grant(id, fence, since, claims, paths, note)
  return struct.pack(GRANT, #id, id, #fence, fence, #since, since, #claims, claims, #paths, paths, #note, note)
end

-- A queued request's field is twelve strings, packed like those of grants: owner, grant id, lease
-- (ms), until when it waits (ms), since when (ms), when it last asked (ms), the channel and the
-- reference to wake it by, claims, paths, note, and '1' if it asks for a grant apart.
local REQUEST = '>I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0I4c0'

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

-- withdrawal returns what stands for a withdrawn request in locks and deadlines.
local function withdrawal(owner, id) return 't' .. #owner .. ':' .. owner .. id end

-- apart_member returns the member of deadlines for a grant that is apart: it has a lease, and so a
-- deadline, of its own.
local function apart_member(owner, id) return 'g' .. #owner .. ':' .. owner .. id end

-- Early scripts take at most this many claims, so that unpack can return them all at once.
local MOST_CLAIMS = 500
