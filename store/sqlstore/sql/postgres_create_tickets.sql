-- One row for each ticket. Arguments: none.
CREATE TABLE IF NOT EXISTS {prefix}tickets (
	tree    bytea    NOT NULL,
	place   bigint   NOT NULL,
	version bigint   NOT NULL,
	state   smallint NOT NULL,
	looks   bigint   NOT NULL,
	home    text     NULL,
	ends    bigint   NOT NULL,
	ticket  bytea    NOT NULL,
	PRIMARY KEY (tree, place)
) WITH (fillfactor = 50)
