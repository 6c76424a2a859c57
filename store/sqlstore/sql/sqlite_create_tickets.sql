-- One row for each ticket. Arguments: none.
CREATE TABLE IF NOT EXISTS {prefix}tickets (
	tree    BLOB    NOT NULL,
	place   INTEGER NOT NULL,
	version INTEGER NOT NULL,
	state   INTEGER NOT NULL,
	looks   INTEGER NOT NULL,
	home    TEXT    NULL,
	ends    INTEGER NOT NULL,
	ticket  BLOB    NOT NULL,
	PRIMARY KEY (tree, place)
) WITHOUT ROWID
