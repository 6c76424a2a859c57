-- What a tree holds at one instant: one row for each ticket, or one with NULLs. The time, which
-- comes first, is the process's: all processes are on one host, and strftime knows it in ms only.
-- Arguments: the version that is known, the tree. Tickets of that version and earlier ones come
-- without their text.
SELECT 0, t.version, t.fence, k.place, k.version, k.state, CASE WHEN k.version > ? THEN k.ticket END
FROM (SELECT 1) AS c
LEFT JOIN {prefix}trees AS t ON t.tree = ?
LEFT JOIN {prefix}tickets AS k ON k.tree = t.tree
