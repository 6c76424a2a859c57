-- All triggers of the schema, except those that foreign keys are made of, with the source of their functions. Bit 1
-- of tgtype is BEFORE. Argument: the schema's oid.
SELECT t.tgname AS name, c.relname AS tbl, (t.tgtype & 2) <> 0 AS before_row, p.prosrc AS text
FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
JOIN pg_proc p ON p.oid = t.tgfoid
WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND c.relnamespace = $1::oid
