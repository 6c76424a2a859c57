-- What the catalogue says of a table, as one JSON document a row: no row if the name is unknown.
-- Arguments: schema ('' for the current one) and table, again and again. MariaDB opens all tables
-- of the server where a condition compares with anything else.
SELECT 'table' AS what, JSON_OBJECT(
         'kind', IF(TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED'), '', CONCAT('a ', LOWER(TABLE_TYPE))),
         'engine', COALESCE(ENGINE, ''), 'format', COALESCE(ROW_FORMAT, ''), 'version', VERSION(),
         'hides', @@SESSION.sql_mode LIKE '%PAD_CHAR_TO_FULL_LENGTH%') AS doc
FROM information_schema.TABLES
WHERE TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND TABLE_NAME = ?
UNION ALL
-- A column is plain if MODIFY can write all of its definition; rest is what follows the type.
-- MariaDB names the check of a column like the column, and has its default as SQL.
SELECT 'column', JSON_OBJECT(
         'name', COLUMN_NAME, 'type', COLUMN_TYPE, 'collation', COALESCE(COLLATION_NAME, ''), 'charset', COALESCE(CHARACTER_SET_NAME, ''),
         'length', IF(DATA_TYPE LIKE '%text', 0, COALESCE(CHARACTER_MAXIMUM_LENGTH, 0)),
         'bytes', COALESCE(CHARACTER_OCTET_LENGTH, IF(DATA_TYPE = 'uuid', 16, 8)), 'nullable', IS_NULLABLE = 'YES',
         'required', IS_NULLABLE = 'NO' AND COLUMN_DEFAULT IS NULL AND EXTRA NOT LIKE '%auto_increment%',
         'expression', COALESCE(GENERATION_EXPRESSION, ''),
         'rest', CONCAT(
           CASE WHEN COLUMN_DEFAULT IS NULL OR COLUMN_DEFAULT = 'NULL' AND VERSION() LIKE '%MariaDB%' THEN ''
                ELSE CONCAT(' DEFAULT ', IF(VERSION() LIKE '%MariaDB%', COLUMN_DEFAULT, QUOTE(COLUMN_DEFAULT))) END,
           IF(COLUMN_COMMENT = '', '', CONCAT(' COMMENT ', QUOTE(COLUMN_COMMENT)))),
         'plain', EXTRA = '' AND COLUMN_TYPE NOT LIKE '%/*%'
                  AND COLUMN_NAME NOT IN (SELECT CONSTRAINT_NAME FROM information_schema.CHECK_CONSTRAINTS
                                          WHERE CONSTRAINT_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND ? <> ''))
FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND TABLE_NAME = ?
UNION ALL
SELECT 'key', JSON_OBJECT(
         'name', k.CONSTRAINT_NAME, 'column', k.COLUMN_NAME,
         'references', IF(k.REFERENCED_TABLE_SCHEMA = k.TABLE_SCHEMA AND k.REFERENCED_TABLE_NAME = k.TABLE_NAME, '',
           CONCAT(IF(k.REFERENCED_TABLE_SCHEMA = DATABASE(), '', CONCAT(k.REFERENCED_TABLE_SCHEMA, '.')), k.REFERENCED_TABLE_NAME)),
         'on_delete', r.DELETE_RULE, 'on_update', r.UPDATE_RULE)
FROM information_schema.KEY_COLUMN_USAGE k
JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
WHERE k.TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND k.TABLE_NAME = ? AND k.REFERENCED_TABLE_NAME IS NOT NULL
  AND r.CONSTRAINT_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND r.TABLE_NAME = ?
UNION ALL
SELECT 'trigger', JSON_OBJECT('name', TRIGGER_NAME)
FROM information_schema.TRIGGERS
WHERE TRIGGER_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND EVENT_OBJECT_SCHEMA = TRIGGER_SCHEMA AND EVENT_OBJECT_TABLE = ?
UNION ALL
SELECT 'partition', JSON_OBJECT('name', PARTITION_METHOD)
FROM information_schema.PARTITIONS
WHERE TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND TABLE_NAME = ? AND PARTITION_METHOD IS NOT NULL
GROUP BY PARTITION_METHOD
