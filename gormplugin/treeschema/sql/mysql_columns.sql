-- The columns. Arguments: schema ('' for the current one), table.
SELECT COLUMN_NAME AS name, COLUMN_TYPE AS type, CHARACTER_MAXIMUM_LENGTH AS length, CHARACTER_OCTET_LENGTH AS bytes,
       IS_NULLABLE AS nullable, COLLATION_NAME AS collation_name, CHARACTER_SET_NAME AS charset_name,
       GENERATION_EXPRESSION AS expression
FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND TABLE_NAME = ?
