-- All triggers with the source of their functions, except those that implement foreign keys. Of the
-- bits of tgtype, 1 is FOR EACH ROW, 2 BEFORE, 8 DELETE and 16 UPDATE.
SELECT n.nspname AS trigger_schema, t.tgname AS name, c.relname AS tbl, (t.tgtype & 3) = 3 AS before_row,
       (t.tgtype & 16) <> 0 AS updates, (t.tgtype & 8) <> 0 AS deletes, p.prosrc AS text, l.lanname AS routine_language
FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_proc p ON p.oid = t.tgfoid
JOIN pg_language l ON l.oid = p.prolang
WHERE NOT t.tgisinternal AND t.tgenabled NOT IN ('D', 'R')
