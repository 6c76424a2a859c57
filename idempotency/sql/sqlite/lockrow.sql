-- Begins to write, or fails within the busy timeout: whoever writes has the whole database.
-- Parameter: id.
UPDATE ${table} SET id = id WHERE id = ?
