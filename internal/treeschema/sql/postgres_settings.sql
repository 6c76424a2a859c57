-- Settings of the session and the database, and the extensions that are there.
SELECT name, setting AS value FROM pg_settings
WHERE name IN ('server_version', 'server_encoding', 'default_transaction_isolation', 'default_transaction_read_only',
               'fsync', 'synchronous_commit', 'idle_in_transaction_session_timeout')
UNION ALL
SELECT 'in_recovery', pg_is_in_recovery()::text
UNION ALL
SELECT 'extensions', string_agg(extname, ',') FROM pg_extension WHERE extname IN ('bdr', 'spock', 'pgactive', 'pglogical')
