-- Locks the row of a tree until the end of the transaction. Arguments: tree.
SELECT version FROM {prefix}trees WHERE tree = ? FOR UPDATE
