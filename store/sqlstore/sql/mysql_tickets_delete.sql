-- Removes tickets. The list of places is appended. Arguments: tree.
DELETE FROM {prefix}tickets WHERE tree = ? AND place IN ({values})
