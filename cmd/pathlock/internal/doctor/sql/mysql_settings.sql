-- Variables of the session with their values. Arguments: none.
SHOW VARIABLES
WHERE Variable_name IN ('innodb_flush_log_at_trx_commit', 'sync_binlog', 'wait_timeout', 'idle_transaction_timeout')
