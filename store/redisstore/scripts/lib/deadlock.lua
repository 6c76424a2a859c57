-- Deadlocks: requests with somebody in their way who waits for their own owner.

-- deadlock looks for an owner that r conflicts with and that waits for r's owner. It returns the
-- number of the claim that cannot be granted, and the owner that has it; or nil.
local function deadlock(r)
  if not lists.converting() then return nil end
  local blocked = held_by_others(r, holding(r.owner))
  local for_gate = r.gate and gate_is_others(r.owner)
  if #blocked == 0 and not for_gate then return nil end

  local claim, blocker
  search(r.owner, AFTER_TICKETS, function(v)
    claim = for_gate and gate_is_of(v.owner) and 1
    local theirs = holding(v.owner)
    for _, i in ipairs(theirs and blocked or {}) do
      claim = claim or not compatible(r.modes[i], theirs.modes[r.names[i]] or 0) and i
    end
    blocker = v.owner
    return claim
  end)
  if claim then return claim, blocker end
end
