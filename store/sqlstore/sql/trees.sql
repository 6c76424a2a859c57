-- The trees in which somebody holds or waits. Arguments: the state of refused tickets, the time
-- in µs.
SELECT DISTINCT t.namespace, t.id
FROM {prefix}tickets AS k JOIN {prefix}trees AS t ON t.tree = k.tree
WHERE k.state <> ? AND k.ends > ?
