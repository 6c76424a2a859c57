-- Records the answer, in the transaction of the effect. It hits no row if another attempt has
-- claimed the key. Parameters: status, headers, body, keeping time (ms), id, attempt.
UPDATE ${table} SET state = 2, commits = commits + 1, status = ?, headers = ?, body = ?, expires_at = ? + ${now}
WHERE id = ? AND attempt = ?
