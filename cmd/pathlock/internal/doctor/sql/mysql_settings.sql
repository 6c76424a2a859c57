-- Variables of the session with their values. Arguments: none.
SHOW VARIABLES
WHERE Variable_name IN ('innodb_flush_log_at_trx_commit', 'sync_binlog', 'innodb_lock_wait_timeout', 'wait_timeout', 'idle_transaction_timeout', 'idle_write_transaction_timeout', 'max_statement_time', 'max_connections', 'transaction_isolation', 'tx_isolation')
