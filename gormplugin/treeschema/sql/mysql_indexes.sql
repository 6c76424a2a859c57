-- The parts of the indexes' keys. Everything is asked for, since MySQL has the columns EXPRESSION and IS_VISIBLE,
-- where MariaDB has IGNORED. Arguments: schema ('' for the current one), table.
SELECT *
FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND TABLE_NAME = ?
ORDER BY INDEX_NAME, SEQ_IN_INDEX
