-- Grants apart, and the members of deadlines that stand for them.

-- A grant is apart if it has a lease, and so a deadline, of its own. One table has all functions
-- for such grants, because a Lua function can use at most sixty names from outside.
local apart = {}

-- of returns the member of deadlines for an apart grant.
function apart.of(owner, id) return 'g' .. #owner .. ':' .. owner .. id end

-- parts returns the owner and the grant id of such a member.
function apart.parts(member)
  local bytes, at = string.match(member, '^g(%d+):()')
  return sub(member, at, at + bytes - 1), sub(member, at + bytes)
end

-- ends returns when a grant's own lease ends (ms), or nil if the grant is not apart.
function apart.ends(owner, id) return tonumber(call('ZSCORE', DEADLINES, apart.of(owner, id)) or nil) end
