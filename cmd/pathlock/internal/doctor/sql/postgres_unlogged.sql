-- The number of tables, 0 or 1, that a name means to this session and that are not permanent.
-- Arguments: the name, quoted as in a statement.
SELECT count(*)
FROM pg_class
WHERE oid = to_regclass($1) AND relpersistence <> 'p'
