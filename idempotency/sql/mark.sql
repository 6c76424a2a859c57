-- Notes, in a transaction of the keyed request, that the transaction is committed. It hits no row
-- if another attempt has claimed the key. The count changes the row in any case: MySQL counts only
-- rows that change. Parameters: id, attempt.
UPDATE ${table} SET state = CASE WHEN state = 0 THEN 1 ELSE state END, commits = commits + 1 WHERE id = ? AND attempt = ?
