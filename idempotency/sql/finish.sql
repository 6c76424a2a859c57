-- Records the answer after the handler, unless the handler did. Parameters: status, headers, body,
-- keeping time (ms), id, attempt.
UPDATE ${table} SET state = 2, commits = commits + 1, status = ?, headers = ?, body = ?, expires_at = ? + ${now}
WHERE id = ? AND attempt = ? AND state < 2
