-- The modes, and which of them are compatible. Only this file says so.

-- A set of modes is a sum of bits.
local BIT = { [0] = 0, 1, 2, 4, 8, 16 }

-- CONFLICTS has, for each mode, the set of modes that another owner cannot have beside it (Gray et
-- al. 1976, table 1).
local CONFLICTS = { [0] = 0, 16, 28, 26, 30, 31 }
local ALL = 31 -- the set of all modes
local band, floor = bit.band, math.floor
