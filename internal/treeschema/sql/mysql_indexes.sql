-- The parts of the indexes' keys, the primary one first. It selects everything, since only MySQL
-- has the columns EXPRESSION and IS_VISIBLE, and only MariaDB has IGNORED. Arguments: schema (''
-- for the current one), table.
SELECT *
FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND TABLE_NAME = ?
ORDER BY INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX
