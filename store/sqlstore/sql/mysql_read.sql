-- What a tree holds at one instant, and the server's time in µs: one row for each ticket, or one
-- with NULLs. UTC_TIMESTAMP is when the statement began, whatever the session's time zone.
-- Arguments: the version that is known, the tree. Tickets of that version and earlier ones come
-- without their text.
SELECT c.now, t.version, t.fence, k.place, k.version, k.state, CASE WHEN k.version > ? THEN k.ticket END
FROM (SELECT TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6)) AS now) AS c
LEFT JOIN {prefix}trees AS t ON t.tree = ?
LEFT JOIN {prefix}tickets AS k ON k.tree = t.tree
