-- The tickets of a process whose wait has ended. Arguments: home, the states of granted and of
-- refused tickets.
SELECT tree, place FROM {prefix}tickets WHERE home = ? AND state IN (?, ?)
