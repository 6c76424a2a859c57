-- The session's SQL mode, and the server's, with which new sessions begin.
SELECT VERSION() AS version, @@SESSION.sql_mode AS sql_mode, @@GLOBAL.sql_mode AS server_mode
