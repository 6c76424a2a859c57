-- One row for each tree in use. Arguments: none.
CREATE TABLE IF NOT EXISTS {prefix}trees (
	tree      BLOB    NOT NULL PRIMARY KEY,
	namespace BLOB    NOT NULL,
	id        BLOB    NOT NULL,
	version   INTEGER NOT NULL,
	fence     INTEGER NOT NULL,
	changed   INTEGER NOT NULL
) WITHOUT ROWID
