-- The time.

-- Only the server's clock counts.
local clock = call('TIME')
local NOW = clock[1] * 1000 + math.floor(clock[2] / 1000)
local NOW_MICROS = clock[1] * 1000000 + clock[2]
