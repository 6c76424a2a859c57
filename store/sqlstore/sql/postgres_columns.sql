-- The columns of the tables. Arguments: the names of both tables.
SELECT c.relname::text, a.attname::text, t.typname::text, 0, NOT a.attnotnull,
       COALESCE((SELECT array_position(i.indkey::int2[], a.attnum) FROM pg_catalog.pg_index AS i
                 WHERE i.indrelid = c.oid AND i.indisprimary), -1) + 1
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
WHERE c.oid IN (to_regclass(?), to_regclass(?))
