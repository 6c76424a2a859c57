-- The columns. type_oid and collation_oid tell apart types that had one name at different times. Of
-- a domain, type_name and length are those of its base type. users are the objects that keep a
-- column's type from being changed. Argument: the table's oid.
SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.atttypid AS type_oid, a.attcollation AS collation_oid,
       ty.typname AS type_name,
       CASE WHEN ty.typname = 'varchar' AND base.modifier > 4 THEN base.modifier - 4 ELSE 0 END AS length,
       NOT a.attnotnull AS nullable, co.collname AS collation_name, COALESCE(co.collisdeterministic, TRUE) AS is_deterministic,
       CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END AS expression, ty.oid <> a.atttypid AS is_domain,
       (SELECT string_agg(DISTINCT CASE WHEN u.attname IS NULL THEN pg_describe_object(x.classid, x.objid, x.objsubid) ELSE 'generated column ' || u.attname END, ', ')
        FROM pg_depend x
        LEFT JOIN pg_attrdef g ON x.classid = 'pg_attrdef'::regclass AND g.oid = x.objid
        LEFT JOIN pg_attribute u ON u.attrelid = g.adrelid AND u.attnum = g.adnum AND u.attnum <> a.attnum AND u.attgenerated <> ''
        WHERE x.refclassid = 'pg_class'::regclass AND x.refobjid = a.attrelid AND x.refobjsubid = a.attnum
          AND (u.attname IS NOT NULL OR x.classid IN ('pg_rewrite'::regclass, 'pg_trigger'::regclass, 'pg_policy'::regclass, 'pg_proc'::regclass,
                                                      'pg_publication_rel'::regclass))) AS users
FROM pg_attribute a
CROSS JOIN LATERAL (
    WITH RECURSIVE made (type_oid, modifier, depth) AS (
        SELECT a.atttypid, a.atttypmod, 0
        UNION ALL
        SELECT t.typbasetype, GREATEST(m.modifier, t.typtypmod), m.depth + 1 FROM made m JOIN pg_type t ON t.oid = m.type_oid WHERE t.typtype = 'd'
    )
    SELECT type_oid, modifier FROM made ORDER BY depth DESC LIMIT 1
) base
JOIN pg_type ty ON ty.oid = base.type_oid
LEFT JOIN pg_collation co ON co.oid = a.attcollation
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped
