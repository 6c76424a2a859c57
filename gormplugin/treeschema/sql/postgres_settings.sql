-- The server's version, the database's encoding, the isolation level of new transactions with where
-- it was set, whether transactions can write, and the extensions.
SELECT current_setting('server_version') AS version, version() AS full_version, current_setting('server_encoding') AS encoding,
       setting AS isolation, source, quote_ident(current_database()) AS database_name, quote_ident(CURRENT_USER) AS role_name,
       pg_is_in_recovery() AS in_recovery, current_setting('default_transaction_read_only') AS read_only,
       (SELECT string_agg(extname, ',') FROM pg_extension) AS extensions
FROM pg_settings
WHERE name = 'default_transaction_isolation'
