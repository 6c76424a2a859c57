-- The written form of claims, grants and requests.

-- An owner's field is its grants, one after the other. Each is a table, packed by cmsgpack: id,
-- fence, since (ms), claims, paths, note, origin. Paths and the origin are only for snapshots; no
-- script reads them.
--
-- A queued request's field is such a table too: owner, id, lease (ms), till when it waits (ms),
-- since when (ms), when it was last seen to ask (ms), the channel and the ref to wake it by,
-- claims, paths, note, origin, and apart = '1' if it asks for a grant apart.

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

-- apart_member returns the member of deadlines for a grant that is apart: it has a lease, and so a
-- deadline, of its own.
local function apart_member(owner, id) return 'g' .. #owner .. ':' .. owner .. id end
