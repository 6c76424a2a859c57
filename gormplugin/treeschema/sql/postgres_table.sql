-- The table; no row if there is no such table. Argument: its name, quoted.
SELECT c.oid AS oid, c.relnamespace AS schema_oid
FROM pg_class c
WHERE c.oid = to_regclass($1::text) AND c.relkind IN ('r', 'p')
