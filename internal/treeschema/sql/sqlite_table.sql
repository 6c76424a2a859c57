-- What the catalogue says of a table, as one JSON document a row: no row if the name is unknown.
-- Collations, expressions and conditions stand in the statements that made things, and nowhere
-- else. Argument: the table. A temporary table hides others.
SELECT 'table' AS what, '' AS name, number AS n, json_object('kind', kind, 'text', text) AS doc
FROM (
    SELECT 0 AS number, CASE WHEN type = 'view' THEN 'a view' WHEN "sql" LIKE 'CREATE VIRTUAL%' THEN 'a virtual table' ELSE '' END AS kind, "sql" AS text
    FROM sqlite_master WHERE lower(name) = lower(?1) AND type IN ('table', 'view')
    UNION ALL
    SELECT 1, 'a temporary ' || type, "sql" FROM sqlite_temp_master WHERE lower(name) = lower(?1) AND type IN ('table', 'view')
)
UNION ALL
SELECT 'column', name, cid, json_object(
         'name', name, 'type', type, 'nullable', "notnull" = 0, 'required', "notnull" <> 0 AND dflt_value IS NULL AND hidden = 0, 'plain', 0, 'expression', CASE WHEN hidden > 1 THEN 'others' ELSE '' END, 'length', 0, 'key', pk,
         'equality', CASE WHEN type = '' OR upper(type) LIKE '%CHAR%' OR upper(type) LIKE '%CLOB%' OR upper(type) LIKE '%TEXT%' OR upper(type) LIKE '%BLOB%'
                          THEN 'exact' ELSE '' END)
FROM pragma_table_xinfo(?1)
UNION ALL
SELECT 'part', l.name, x.seqno, json_object(
         'index', l.name, 'unique', l."unique", 'column', coalesce(x.name, ''),
         'ordered', x.coll = 'BINARY', 'condition', CASE WHEN l.partial THEN coalesce((SELECT "sql" FROM sqlite_master m WHERE m.type = 'index' AND m.name = l.name), 'unknown') ELSE '' END)
FROM pragma_index_list(?1) l, pragma_index_xinfo(l.name) x
WHERE x."key" = 1
UNION ALL
SELECT 'key', k.id, k.seq, json_object('name', '', 'column', k."from", 'references', k."table", 'on_delete', k.on_delete, 'on_update', k.on_update)
FROM pragma_foreign_key_list(?1) k, pragma_foreign_keys f
WHERE f.foreign_keys
UNION ALL
SELECT 'taken', name, 0, json_object('name', name) FROM sqlite_master -- tables and indexes alike
UNION ALL
SELECT 'trigger', name, 0, json_object('name', name)
FROM (SELECT * FROM sqlite_master UNION ALL SELECT * FROM sqlite_temp_master)
WHERE type = 'trigger' AND lower(tbl_name) = lower(?1)
ORDER BY what, name, n
