-- Everything that has a name, with the statement that made it.
SELECT type, name, tbl_name AS tbl, "sql" AS text FROM sqlite_master
