-- Settings of the session and the server. No server knows all of them.
SHOW SESSION VARIABLES WHERE Variable_name IN ('version', 'sql_mode', 'wsrep_provider',
     'group_replication_single_primary_mode', 'read_only', 'super_read_only', 'innodb_read_only',
     'completion_type', 'autocommit', 'unique_checks', 'innodb_flush_log_at_trx_commit', 'sync_binlog',
     'wait_timeout', 'idle_transaction_timeout', 'character_set_client')
