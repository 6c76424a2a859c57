-- The rules that rewrite statements on the table. Argument: the table's oid.
SELECT r.rulename AS name
FROM pg_rewrite r
WHERE r.ev_class = $1::oid AND r.rulename <> '_RETURN' AND r.ev_enabled NOT IN ('D', 'R')
