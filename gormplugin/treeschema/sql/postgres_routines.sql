-- The procedures and functions that are not PostgreSQL's own, except those written in C.
SELECT LOWER(p.proname) AS name, p.prosrc AS text, l.lanname AS routine_language
FROM pg_proc p
JOIN pg_namespace n ON n.oid = p.pronamespace
JOIN pg_language l ON l.oid = p.prolang
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND l.lanname NOT IN ('c', 'internal')
