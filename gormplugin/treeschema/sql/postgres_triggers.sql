-- All triggers, except those that implement foreign keys.
SELECT n.nspname AS trigger_schema, t.tgname AS name, c.relname AS tbl
FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT t.tgisinternal AND t.tgenabled NOT IN ('D', 'R')
