-- What the name stands for; no row if the name is unknown. Argument: its name, quoted.
SELECT c.oid AS oid, c.relnamespace AS schema_oid, n.nspname AS schema_name, c.relkind AS kind, c.relpersistence = 't' AS is_temporary,
       c.relispartition AS is_partition, row_security_active(c.oid) AS has_row_security, pg_get_partkeydef(c.oid) AS partitioned_by,
       (SELECT string_agg(i.inhrelid::regclass::text, ', ') FROM pg_inherits i WHERE i.inhparent = c.oid) AS heirs,
       (SELECT string_agg(i.inhparent::regclass::text, ', ') FROM pg_inherits i WHERE i.inhrelid = c.oid) AS ancestors,
       (SELECT string_agg(s.subname, ', ') FROM pg_subscription_rel r JOIN pg_subscription s ON s.oid = r.srsubid WHERE r.srrelid = c.oid) AS subscriptions
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = to_regclass($1::text)
