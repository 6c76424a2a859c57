-- What a tree holds at one instant, and the server's time in µs: one row for each ticket, or one
-- with NULLs. clock_timestamp is the time itself; now() would be when the transaction began.
-- Arguments: the version that is known, the tree. Tickets of that version and earlier ones come
-- without their text.
SELECT c.now, t.version, t.fence, k.place, k.version, k.state, CASE WHEN k.version > ?::bigint THEN k.ticket END
FROM (SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint AS now) AS c
LEFT JOIN {prefix}trees AS t ON t.tree = ?::bytea
LEFT JOIN {prefix}tickets AS k ON k.tree = t.tree
