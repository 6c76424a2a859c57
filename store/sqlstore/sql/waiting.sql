-- The tickets of a process that still wait. Arguments: home, the states of waiting and of called
-- tickets.
SELECT tree, place, state, looks FROM {prefix}tickets WHERE home = ? AND state IN (?, ?)
