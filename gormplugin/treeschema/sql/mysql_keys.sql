-- The foreign keys of the schema, a row for each of their columns. Arguments: schema, twice, since
-- MariaDB opens all tables of the server where a condition compares with a column.
SELECT k.CONSTRAINT_NAME AS name, k.TABLE_SCHEMA AS table_schema, k.TABLE_NAME AS tbl, k.COLUMN_NAME AS column_name,
       k.REFERENCED_TABLE_SCHEMA AS to_schema, k.REFERENCED_TABLE_NAME AS to_table, k.REFERENCED_COLUMN_NAME AS to_column,
       r.DELETE_RULE AS on_delete, r.UPDATE_RULE AS on_update
FROM information_schema.KEY_COLUMN_USAGE k
JOIN information_schema.REFERENTIAL_CONSTRAINTS r
  ON r.CONSTRAINT_SCHEMA = ? AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
WHERE k.TABLE_SCHEMA = ? AND k.REFERENCED_TABLE_NAME IS NOT NULL
ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION
