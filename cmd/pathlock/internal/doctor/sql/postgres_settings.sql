-- Settings with their values. Arguments: none.
SELECT name, setting
FROM pg_settings
WHERE name IN ('fsync', 'synchronous_commit', 'idle_in_transaction_session_timeout')
