-- The time.

-- Only the server's clock counts.
local clock = call('TIME')
local NOW_MICROS = clock[1] * 1000000 + clock[2]
local NOW = math.floor(NOW_MICROS / 1000)
