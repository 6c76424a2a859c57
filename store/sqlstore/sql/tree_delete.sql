-- Removes the row of a tree that nobody has changed since it was found empty. Arguments: tree,
-- version.
DELETE FROM {prefix}trees WHERE tree = ? AND version = ?
