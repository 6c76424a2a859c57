-- The rules that rewrite statements on the table. Argument: the table's oid.
SELECT r.rulename AS name, r.is_instead AS is_instead, pg_get_ruledef(r.oid) AS text
FROM pg_rewrite r
WHERE r.ev_class = $1::oid AND r.rulename <> '_RETURN' AND r.ev_enabled NOT IN ('D', 'R')
