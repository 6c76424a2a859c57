-- Trees without tickets that nobody has used for long. Their fences are in the past, so that the
-- clock takes their place. Arguments: a time in µs, twice; how many trees.
SELECT t.tree, t.version FROM {prefix}trees AS t
WHERE t.changed < ? AND t.fence < ? AND NOT EXISTS (SELECT 1 FROM {prefix}tickets AS k WHERE k.tree = t.tree)
LIMIT ?
