-- The next version of a tree, if nobody was faster. Arguments: the next version, fence, time in µs,
-- tree, the version that was read.
UPDATE {prefix}trees SET version = ?, fence = ?, changed = ? WHERE tree = ? AND version = ?
