-- One row for each tree in use. Every update writes it: the free space keeps the new version of the
-- row on its page. Arguments: none.
CREATE TABLE IF NOT EXISTS {prefix}trees (
	tree      bytea  NOT NULL PRIMARY KEY,
	namespace bytea  NOT NULL,
	id        bytea  NOT NULL,
	version   bigint NOT NULL,
	fence     bigint NOT NULL,
	changed   bigint NOT NULL
) WITH (fillfactor = 50)
