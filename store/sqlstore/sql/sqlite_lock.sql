-- Locks the file until the end of the transaction, whether or not the tree has a row: a transaction
-- that begins by writing never has to be run again because another one was faster. Arguments: tree.
UPDATE {prefix}trees SET version = version WHERE tree = ?
