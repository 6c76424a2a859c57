-- The server's version, the database's encoding, and the isolation level of new transactions with where it was set.
SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
       setting AS isolation, source, quote_ident(current_database()) AS database_name, quote_ident(current_user) AS role_name
FROM pg_settings
WHERE name = 'default_transaction_isolation'
