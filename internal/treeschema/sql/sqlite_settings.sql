-- The library's version and the connection's settings.
SELECT 'version' AS name, sqlite_version() AS value
UNION ALL SELECT 'busy_timeout', timeout FROM pragma_busy_timeout
UNION ALL SELECT 'query_only', query_only FROM pragma_query_only
UNION ALL SELECT 'journal_mode', journal_mode FROM pragma_journal_mode
