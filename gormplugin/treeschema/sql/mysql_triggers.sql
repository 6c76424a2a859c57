-- The triggers of the schema that the user sees. Arguments: schema, twice: MariaDB opens all tables
-- of the server for the first condition alone.
SELECT TRIGGER_SCHEMA AS trigger_schema, TRIGGER_NAME AS name, EVENT_OBJECT_TABLE AS tbl
FROM information_schema.TRIGGERS
WHERE TRIGGER_SCHEMA = ? AND EVENT_OBJECT_SCHEMA = ?
