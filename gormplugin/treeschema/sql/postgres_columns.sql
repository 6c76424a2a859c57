-- The columns. type_name is without the length. Argument: the table's oid.
SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, ty.typname AS type_name,
       CASE WHEN ty.typname = 'varchar' AND a.atttypmod > 4 THEN a.atttypmod - 4 ELSE 0 END AS length,
       NOT a.attnotnull AS nullable, co.collname AS collation_name, COALESCE(co.collisdeterministic, TRUE) AS is_deterministic,
       CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END AS expression
FROM pg_attribute a
JOIN pg_type ty ON ty.oid = a.atttypid
LEFT JOIN pg_collation co ON co.oid = a.attcollation
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped
