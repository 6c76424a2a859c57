-- The table's storage engine, and the server's version; no row if there is no such table. Arguments: schema ('' for the current one), table.
SELECT ENGINE AS engine, VERSION() AS version
FROM information_schema.TABLES
WHERE TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND TABLE_NAME = ? AND TABLE_TYPE LIKE 'BASE TABLE'
