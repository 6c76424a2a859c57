-- The tickets of a process that still wait. Arguments: home, the state of waiting tickets.
SELECT tree, place FROM {prefix}tickets WHERE home = ? AND state = ?
