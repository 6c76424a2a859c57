-- The time, and fences, which are made of it.

-- The server's clock is the only one that counts.
local clock = call('TIME')
local NOW = clock[1] * 1000 + math.floor(clock[2] / 1000)
local NOW_MICROS = clock[1] * 1000000 + clock[2]

-- next_fence returns a fence greater than all before: the time, unless the clock has gone back or
-- stood still. So fences rise even where a failover, or the end of this key, has lost the last one.
local function next_fence()
  local fence = int(NOW_MICROS)
  local last = call('SET', FENCE, fence, 'PX', FENCE_TTL, 'GET')
  if last and tonumber(last) >= NOW_MICROS then
    fence = int(last + 1)
    call('SET', FENCE, fence, 'PX', FENCE_TTL)
  end
  return fence
end
