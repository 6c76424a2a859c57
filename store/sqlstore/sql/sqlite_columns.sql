-- The columns of the tables. Arguments: the names of both tables.
SELECT m.name, c.name, LOWER(c.type), 0, NOT c."notnull", c.pk
FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
WHERE m.type = 'table' AND m.name IN (?, ?)
