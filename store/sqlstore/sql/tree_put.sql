-- A tree's first row. Arguments: tree, namespace, id, version, fence, time in µs.
INSERT INTO {prefix}trees (tree, namespace, id, version, fence, changed) VALUES (?, ?, ?, ?, ?, ?)
