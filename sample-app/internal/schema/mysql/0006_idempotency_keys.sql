-- The keys of requests: see package idempotency. Times are milliseconds since 1970.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    id CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    fingerprint CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    attempt VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    state SMALLINT NOT NULL,
    commits INT NOT NULL,
    status SMALLINT NOT NULL,
    headers MEDIUMTEXT CHARACTER SET utf8mb4 NULL,
    body LONGBLOB NULL,
    leased_until BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    KEY idempotency_keys_expiry (expires_at)
) ENGINE = InnoDB;
