-- The table of keys. Times are milliseconds since 1970, by the database's clock.
CREATE TABLE IF NOT EXISTS ${table} (
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
CREATE INDEX IF NOT EXISTS ${index} ON ${table} (expires_at);
