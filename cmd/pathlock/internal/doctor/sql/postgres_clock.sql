-- The server's time in µs. Arguments: none.
SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint
