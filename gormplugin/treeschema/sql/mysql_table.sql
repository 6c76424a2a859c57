-- What the name stands for, and the server's version; no row if the name is unknown. Arguments:
-- schema ('' for the current one) and table, twice: MariaDB opens all tables of the server where a
-- condition compares with a column.
SELECT TABLE_SCHEMA AS table_schema, TABLE_TYPE AS kind, ENGINE AS engine, ROW_FORMAT AS format, VERSION() AS version, @@SESSION.sql_mode AS mode,
       (SELECT MIN(PARTITION_EXPRESSION) FROM information_schema.PARTITIONS p
        WHERE p.TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND p.TABLE_NAME = ?) AS partitioned_by
FROM information_schema.TABLES t
WHERE TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) AND TABLE_NAME = ?
