-- What no two servers have in common: the address and the time of the start. Arguments: none.
SELECT COALESCE(host(inet_server_addr()), 'local') || ':' || COALESCE(inet_server_port(), 0) || ' since ' || pg_postmaster_start_time()
