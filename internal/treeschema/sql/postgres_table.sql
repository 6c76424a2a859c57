-- What the catalogue says of a table, as one JSON document a row: no row if the name is unknown.
-- Argument: the table's name, quoted.
WITH t AS (SELECT *, row_security_active(oid) AS secured FROM pg_class WHERE oid = to_regclass($1::text))
SELECT 'table' AS what, '' AS name, 0 AS n, json_build_object(
         'kind', CASE WHEN relkind IN ('r', 'p') THEN CASE WHEN relpersistence = 't' THEN 'a temporary table' ELSE '' END
                      ELSE COALESCE((jsonb '{"v": "a view", "m": "a stored view", "f": "a foreign table"}') ->> relkind::text, 'no table') END,
         'hides', secured)::text AS doc
FROM t
UNION ALL
-- No statement retypes a column that a view, a policy, a trigger or a generated column uses. Of a
-- domain, the type and the length are those of its base type, and so is what the collation can
-- tell apart.
SELECT 'column', a.attname, a.attnum, json_build_object(
         'name', a.attname, 'type', CASE ty.typtype WHEN 'e' THEN 'enum ' ELSE '' END || format_type(base.type_oid, base.modifier), 'collation', COALESCE(co.collname, ''), 'nullable', NOT a.attnotnull,
         'required', a.attnotnull AND d.adbin IS NULL AND a.attidentity = '',
         'length', CASE WHEN ty.typname IN ('varchar', 'bpchar') AND base.modifier > 4 THEN base.modifier - 4 ELSE 0 END, 'plain', ty.oid = a.atttypid
             AND NOT EXISTS (SELECT 1 FROM pg_depend u WHERE u.refclassid = 'pg_class'::regclass AND u.refobjid = t.oid AND u.refobjsubid = a.attnum
                             AND (u.classid::regclass::text IN ('pg_rewrite', 'pg_policy', 'pg_trigger', 'pg_attrdef') AND u.deptype = 'n' OR u.objid = t.oid)),
         'expression', CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) ELSE '' END,
         'equality', CASE WHEN co.collname IS NULL THEN ''
                          WHEN NOT co.collisdeterministic THEN 'loose'
                          WHEN ty.typname = 'bpchar' THEN 'padded'
                          WHEN ty.typname NOT IN ('text', 'varchar') THEN 'loose'
                          WHEN co.collname IN ('C', 'POSIX', 'ucs_basic') THEN 'exact'
                          ELSE 'unordered' END)::text
FROM t
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
CROSS JOIN LATERAL (
    WITH RECURSIVE made (type_oid, modifier, depth) AS (
        SELECT a.atttypid, a.atttypmod, 0
        UNION ALL
        SELECT ty.typbasetype, GREATEST(m.modifier, ty.typtypmod), m.depth + 1
        FROM made m JOIN pg_type ty ON ty.oid = m.type_oid WHERE ty.typtype = 'd'
    )
    SELECT type_oid, modifier FROM made ORDER BY depth DESC LIMIT 1
) base
JOIN pg_type ty ON ty.oid = base.type_oid
LEFT JOIN pg_collation co ON co.oid = a.attcollation
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
UNION ALL
-- The parts of the indexes' keys, without INCLUDEd columns. An index that could not be built is not
-- unique. NULLS NOT DISTINCT came with PostgreSQL 15.
SELECT 'part', CASE WHEN i.indisprimary THEN '' ELSE c.relname END, k.n, json_build_object(
         'index', c.relname, 'unique', i.indisunique AND i.indisvalid AND i.indisready,
         'idle', NOT (i.indisvalid AND i.indisready) OR am.amname <> 'btree',
         'nulls_equal', COALESCE((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, FALSE),
         'condition', COALESCE(pg_get_expr(i.indpred, i.indrelid), ''),
         'column', COALESCE(a.attname, ''), 'ordered', co.collname = 'C' AND oc.opcdefault)::text
FROM t
JOIN pg_index i ON i.indrelid = t.oid
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am am ON am.oid = c.relam
CROSS JOIN LATERAL generate_series(1, i.indnkeyatts::int) AS k (n)
LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k.n - 1] AND a.attnum > 0
LEFT JOIN pg_collation co ON co.oid = i.indcollation[k.n - 1]
JOIN pg_opclass oc ON oc.oid = i.indclass[k.n - 1]
UNION ALL
SELECT 'key', k.conname, a.attnum, json_build_object(
         'name', k.conname, 'column', a.attname,
         'references', COALESCE((SELECT CASE WHEN pg_table_is_visible(r.oid) THEN '' ELSE relnamespace::regnamespace || '.' END || relname FROM pg_class r WHERE r.oid = k.confrelid AND r.oid <> t.oid), ''),
         'on_delete', jsonb '{"c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}' ->> k.confdeltype::text,
         'on_update', jsonb '{"c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}' ->> k.confupdtype::text)::text
FROM t
JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype = 'f'
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY (k.conkey)
UNION ALL
SELECT named.what, named.name, 0, json_build_object('name', named.name)::text
FROM (
    SELECT 'trigger' AS what, g.tgname::text AS name
    FROM t JOIN pg_trigger g ON g.tgrelid = t.oid WHERE NOT g.tgisinternal AND g.tgenabled NOT IN ('D', 'R')
    UNION ALL
    SELECT 'rule', w.rulename FROM t JOIN pg_rewrite w ON w.ev_class = t.oid AND w.rulename <> '_RETURN' AND w.ev_enabled NOT IN ('D', 'R')
    UNION ALL
    SELECT 'policy', COALESCE('the policy ' || p.polname, 'no policy shows any row') FROM t LEFT JOIN pg_policy p ON p.polrelid = t.oid WHERE secured
    UNION ALL
    SELECT 'partition', pg_get_partkeydef(oid) FROM t WHERE relkind = 'p'
    UNION ALL
    -- The names that begin alike in the schema, where those of tables and indexes are one kind.
    SELECT 'taken', o.relname FROM t JOIN pg_class o ON o.relnamespace = t.relnamespace AND starts_with(o.relname::text, LEFT(t.relname, 20))
    UNION ALL
    SELECT 'heir', i.inhrelid::regclass::text FROM t JOIN pg_inherits i ON i.inhparent = t.oid WHERE t.relkind <> 'p'
    UNION ALL
    SELECT 'ancestor', i.inhparent::regclass::text FROM t JOIN pg_inherits i ON i.inhrelid = t.oid
) named
ORDER BY what, name, n
