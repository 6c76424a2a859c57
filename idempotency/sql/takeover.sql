-- Claims a key whose row has expired, or whose claim has lapsed before anything was committed.
-- Parameters: fingerprint, attempt, lease and keeping time (ms), id, the attempt that was read.
UPDATE ${table} SET fingerprint = ?, attempt = ?, state = 0, commits = 0, status = 0, headers = NULL, body = NULL,
    leased_until = ? + ${now}, expires_at = ? + ${now}
WHERE id = ? AND attempt = ? AND (expires_at <= ${now} OR (state = 0 AND leased_until <= ${now}))
