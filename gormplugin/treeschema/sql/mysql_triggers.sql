-- All triggers of the schema. Argument: schema ('' for the current one).
SELECT TRIGGER_NAME AS name, EVENT_OBJECT_TABLE AS tbl, ACTION_TIMING = 'BEFORE' AS before_row, ACTION_STATEMENT AS text
FROM information_schema.TRIGGERS
WHERE TRIGGER_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE())
