-- The number of open connections. Arguments: none.
SHOW GLOBAL STATUS WHERE Variable_name = 'Threads_connected'
