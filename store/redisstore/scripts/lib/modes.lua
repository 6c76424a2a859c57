-- Modes, and which of them go together: it is written here once, for the short ways and the
-- library.

-- A set of modes is a sum of bits.
local BIT = { [0] = 0, 1, 2, 4, 8, 16 }

-- CONFLICTS has, for each mode, those that another owner cannot have beside it (Gray et al. 1976,
-- table 1).
local CONFLICTS = { [0] = 0, 16, 28, 26, 30, 31 }
local band, floor = bit.band, math.floor
