-- The parts of the indexes' keys, without the row's own key at their end. Argument: the table.
SELECT l.name AS name, l."unique" AS is_unique, l.origin AS origin, x.seqno AS number, x.name AS column_name, x.coll AS collation_name
FROM pragma_index_list(?) l, pragma_index_xinfo(l.name) x
WHERE x."key" = 1
ORDER BY l.name, x.seqno
