-- The procedures and functions that can be seen; the text of one is NULL for who must not see it.
SELECT LOWER(ROUTINE_NAME) AS name, COALESCE(ROUTINE_DEFINITION, '') AS text, 'sql' AS routine_language
FROM information_schema.ROUTINES
WHERE ROUTINE_SCHEMA NOT IN ('mysql', 'sys')
