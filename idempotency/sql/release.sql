-- Gives a key back, as nothing has taken place. Parameters: id, attempt.
DELETE FROM ${table} WHERE id = ? AND attempt = ? AND state = 0
