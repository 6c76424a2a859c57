-- Locks the row of a key in a transaction that claims it, at once or not at all: a transaction of
-- the attempt that was read may be open, for as long as its process sleeps. Parameter: id.
SELECT id FROM ${table} WHERE id = ? FOR UPDATE NOWAIT
