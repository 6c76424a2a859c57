-- Notes that something has taken place, but nobody has its answer. Parameters: id, attempt.
UPDATE ${table} SET state = 1, commits = commits + 1, leased_until = 0 WHERE id = ? AND attempt = ? AND state < 2
