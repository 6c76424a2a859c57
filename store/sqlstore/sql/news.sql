-- The tickets of a process whose wait has ended, and those that it is to look at while they wait.
-- Arguments: home, the states of granted, refused and called tickets.
SELECT tree, place, state, looks FROM {prefix}tickets WHERE home = ? AND state IN (?, ?, ?)
