-- The modes, and which of them are compatible. Only this file says so.

-- CONFLICTING has, for each mode from IS to X, the set of modes that another owner cannot have
-- beside it (Gray et al. 1976, table 1). A set of modes is a sum of bits: 1 for IS, and twice as
-- much for each mode after it.
local CONFLICTING = '\16\28\26\30\31' -- a text, which costs nothing until it is read
local ALL = 31 -- the set of all modes
local band, floor = bit.band, math.floor
