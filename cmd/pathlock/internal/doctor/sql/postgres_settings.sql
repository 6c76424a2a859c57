-- Settings with their values, and the number of open connections. Arguments: none.
SELECT name, setting
FROM pg_settings
WHERE name IN ('fsync', 'synchronous_commit', 'idle_in_transaction_session_timeout', 'transaction_timeout', 'statement_timeout', 'lock_timeout', 'max_connections', 'default_transaction_isolation')
UNION ALL
SELECT 'connections', count(*)::text
FROM pg_stat_activity
WHERE backend_type = 'client backend'
