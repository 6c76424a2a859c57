-- The columns of the table that its policies read, a row for each policy and column. Argument: the
-- table's oid.
SELECT p.polname AS name, a.attname AS column_name
FROM pg_policy p
LEFT JOIN pg_depend d ON d.classid = 'pg_policy'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_class'::regclass
     AND d.refobjid = p.polrelid AND d.refobjsubid > 0
LEFT JOIN pg_attribute a ON a.attrelid = p.polrelid AND a.attnum = d.refobjsubid
WHERE p.polrelid = $1::oid
