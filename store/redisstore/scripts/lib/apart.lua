-- Grants apart, and what names them.

-- A grant is apart if it has a deadline, that is a lease, of its own. All about that is in one
-- table: a function can use but sixty names from outside of it.
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
