-- The columns, generated ones included. Argument: the table.
SELECT name, type, "notnull" = 0 AS nullable, pk AS pk FROM pragma_table_xinfo(?)
