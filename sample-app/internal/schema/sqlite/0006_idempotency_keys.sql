-- The keys of requests: see package idempotency. Times are milliseconds since 1970.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    id TEXT NOT NULL PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    attempt TEXT NOT NULL,
    state SMALLINT NOT NULL,
    commits INTEGER NOT NULL,
    status SMALLINT NOT NULL,
    headers TEXT NULL,
    body BLOB NULL,
    leased_until BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS idempotency_keys_expiry ON idempotency_keys (expires_at);
