-- Whether the user of the connection may run a command: the command, the keys and the channels in
-- it.
--
-- KEYS    none: the keys are looked at, and not used
-- ARGV    the command and its arguments
-- reply   1 or 0
return redis.acl_check_cmd(unpack(ARGV)) and 1 or 0
