-- The triggers of the schema that the user sees. Arguments: schema, twice: MariaDB opens all tables
-- of the server for the first condition alone.
SELECT TRIGGER_SCHEMA AS trigger_schema, TRIGGER_NAME AS name, EVENT_OBJECT_TABLE AS tbl, ACTION_TIMING = 'BEFORE' AS before_row,
       EVENT_MANIPULATION = 'UPDATE' AS updates, EVENT_MANIPULATION = 'DELETE' AS deletes, ACTION_STATEMENT AS text
FROM information_schema.TRIGGERS
WHERE TRIGGER_SCHEMA = ? AND EVENT_OBJECT_SCHEMA = ?
