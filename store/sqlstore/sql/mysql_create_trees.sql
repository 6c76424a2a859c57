-- One row for each tree in use. Arguments: none.
CREATE TABLE IF NOT EXISTS {prefix}trees (
	tree      BINARY(32)     NOT NULL PRIMARY KEY,
	namespace VARBINARY(255) NOT NULL,
	id        VARBINARY(255) NOT NULL,
	version   BIGINT         NOT NULL,
	fence     BIGINT         NOT NULL,
	changed   BIGINT         NOT NULL
) ENGINE = InnoDB
