-- The time, and the fences that are made of it.

-- Only the server's clock counts.
local clock = call('TIME')
local NOW = clock[1] * 1000 + math.floor(clock[2] / 1000)
local NOW_MICROS = clock[1] * 1000000 + clock[2]

-- next_fence returns a fence greater than all before: the time in µs, or the last fence plus one if
-- the clock has gone back or stood still. So fences rise even if the last one is lost, in a
-- failover or because its key has expired.
local function next_fence()
  local fence = int(NOW_MICROS)
  local last = call('SET', FENCE, fence, 'PX', FENCE_TTL, 'GET')
  if last and tonumber(last) >= NOW_MICROS then
    fence = int(last + 1)
    call('SET', FENCE, fence, 'PX', FENCE_TTL)
  end
  return fence
end
