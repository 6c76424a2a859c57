-- The foreign keys. Argument: the table's oid.
SELECT k.conname AS name, pg_get_constraintdef(k.oid) AS definition,
       (SELECT string_agg(a.attname, ',') FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)) AS column_names
FROM pg_constraint k
WHERE k.contype = 'f' AND k.conrelid = $1::oid
