-- Finds the tickets of a process that waits. Arguments: none.
CREATE INDEX IF NOT EXISTS {prefix}tickets_home ON {prefix}tickets (home, state) WHERE home IS NOT NULL
