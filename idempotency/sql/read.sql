-- Reads the row of a key. Parameter: id.
SELECT fingerprint, attempt, state, status, headers, body,
    CASE WHEN leased_until <= ${now} THEN 1 ELSE 0 END AS lapsed,
    CASE WHEN expires_at <= ${now} THEN 1 ELSE 0 END AS expired
FROM ${table} WHERE id = ?
