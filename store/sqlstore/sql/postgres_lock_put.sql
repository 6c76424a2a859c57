-- Sees to it that a tree has a row to lock. Arguments: tree, namespace, id.
INSERT INTO {prefix}trees (tree, namespace, id, version, fence, changed) VALUES (?, ?, ?, 0, 0, 0)
ON CONFLICT (tree) DO NOTHING
