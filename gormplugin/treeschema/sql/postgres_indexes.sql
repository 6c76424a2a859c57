-- The parts of the indexes' keys, without INCLUDEd columns. An index that could not be built is not
-- unique. NULLS NOT DISTINCT came with PostgreSQL 15. Argument: the table's oid.
SELECT c.relname AS name, i.indisunique AND i.indisvalid AND i.indisready AS is_unique, i.indisprimary AS is_primary,
       NOT (i.indisvalid AND i.indisready) OR am.amname <> 'btree' AS idle,
       COALESCE((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, FALSE) AS nulls_equal,
       EXISTS (SELECT FROM pg_constraint o WHERE o.conindid = i.indexrelid AND o.contype = 'u') AS is_constraint,
       pg_get_expr(i.indpred, i.indrelid) AS predicate,
       a.attname AS column_name, CASE WHEN a.attname IS NULL THEN pg_get_indexdef(i.indexrelid, k.n, TRUE) END AS expression,
       co.collname AS collation_name, oc.opcdefault AS usual_order
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am am ON am.oid = c.relam
CROSS JOIN LATERAL generate_series(1, i.indnkeyatts::int) AS k (n)
LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k.n - 1] AND a.attnum > 0
LEFT JOIN pg_collation co ON co.oid = i.indcollation[k.n - 1]
JOIN pg_opclass oc ON oc.oid = i.indclass[k.n - 1]
WHERE i.indrelid = $1::oid
ORDER BY c.relname, k.n
