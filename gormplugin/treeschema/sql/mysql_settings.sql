-- The session's settings, and the server's, which new sessions begin with.
SELECT VERSION() AS version, @@SESSION.sql_mode AS sql_mode, @@GLOBAL.sql_mode AS server_mode
