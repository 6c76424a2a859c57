-- The library's version and the connection's settings.
SELECT sqlite_version() AS version, (SELECT timeout FROM pragma_busy_timeout) AS busy_timeout,
       (SELECT journal_mode FROM pragma_journal_mode) AS journal_mode, (SELECT foreign_keys FROM pragma_foreign_keys) AS foreign_keys,
       (SELECT query_only FROM pragma_query_only) AS query_only
