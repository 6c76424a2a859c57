-- Claims a key that has no row. Parameters: id, fingerprint, attempt, lease and keeping time (ms).
INSERT IGNORE INTO ${table} (id, fingerprint, attempt, state, commits, status, leased_until, expires_at)
VALUES (?, ?, ?, 0, 0, 0, ? + ${now}, ? + ${now})
