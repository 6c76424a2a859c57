-- Everything that has a name, with the statement that made it. Temporary things belong to the
-- connection.
SELECT type, name, tbl_name AS tbl, "sql" AS text, 0 AS is_temporary FROM sqlite_master
UNION ALL
SELECT type, name, tbl_name AS tbl, "sql" AS text, 1 AS is_temporary FROM sqlite_temp_master
