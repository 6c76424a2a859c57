-- The foreign keys, a row for each of their columns. Argument: the table.
SELECT id, "from" AS column_name, on_update, on_delete FROM pragma_foreign_key_list(?) ORDER BY id, seq
