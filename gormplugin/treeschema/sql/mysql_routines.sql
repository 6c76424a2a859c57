-- The procedures and functions that the user sees. The text is NULL without the privilege to read
-- it.
SELECT LOWER(ROUTINE_NAME) AS name, COALESCE(ROUTINE_DEFINITION, '') AS text, 'sql' AS routine_language
FROM information_schema.ROUTINES
WHERE ROUTINE_SCHEMA NOT IN ('mysql', 'sys')
