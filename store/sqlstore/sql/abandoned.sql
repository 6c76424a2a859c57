-- Trees with a ticket that ended long ago. Arguments: a time in µs, how many trees.
SELECT DISTINCT t.namespace, t.id
FROM {prefix}tickets AS k JOIN {prefix}trees AS t ON t.tree = k.tree
WHERE k.ends < ?
LIMIT ?
