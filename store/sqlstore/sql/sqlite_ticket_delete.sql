-- Removes a ticket. Arguments: tree, place.
DELETE FROM {prefix}tickets WHERE tree = ? AND place = ?
