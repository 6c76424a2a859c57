-- Deletes rows that have expired. Parameter: how many at most.
DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ?)
