-- Notes, in a transaction of the keyed request, that the transaction is committed. It hits no row
-- where another attempt has claimed the key. The count has a row change in any case: MySQL counts
-- only rows that do. Parameters: id, attempt.
UPDATE ${table} SET state = CASE WHEN state = 0 THEN 1 ELSE state END, commits = commits + 1 WHERE id = ? AND attempt = ?
