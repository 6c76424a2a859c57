-- Fails if the table or one of its columns is missing.
SELECT id, fingerprint, attempt, state, commits, status, headers, body, leased_until, expires_at FROM ${table} WHERE 1 = 0
