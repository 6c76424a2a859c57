-- One row for each ticket. Arguments: none.
CREATE TABLE IF NOT EXISTS {prefix}tickets (
	tree    BINARY(32)    NOT NULL,
	place   BIGINT        NOT NULL,
	version BIGINT        NOT NULL,
	state   SMALLINT      NOT NULL,
	looks   BIGINT        NOT NULL,
	home    VARBINARY(63) NULL,
	ends    BIGINT        NOT NULL,
	ticket  LONGBLOB      NOT NULL,
	PRIMARY KEY (tree, place),
	KEY {prefix}tickets_home (home, state)
) ENGINE = InnoDB
