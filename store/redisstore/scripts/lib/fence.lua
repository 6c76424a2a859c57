-- The fence of a grant.

-- next_fence returns a fence greater than all before: the time in µs, or the last fence plus one if
-- the clock has gone back or stood still. So fences rise even if the last one is lost, in a
-- failover or because its key has expired, unless the clock of the new primary is behind.
local function next_fence()
  local fence = int(NOW_MICROS)
  local last = call('SET', FENCE, fence, 'PX', FENCE_TTL, 'GET')
  if last and tonumber(last) >= NOW_MICROS then
    fence = int(last + 1)
    call('SET', FENCE, fence, 'PX', FENCE_TTL)
  end
  return fence
end
