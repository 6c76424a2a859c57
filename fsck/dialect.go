package fsck

import "github.com/pathlock-go/pathlock/internal/dialect"

// Dialect is a database's dialect of SQL, by GORM's name for it.
type Dialect = dialect.Name

// The dialects.
const (
	// MySQL is MySQL 8 or later, or MariaDB 10.6 or later.
	MySQL Dialect = "mysql"
	// PostgreSQL is PostgreSQL 13 or later.
	PostgreSQL Dialect = "postgres"
	// SQLite is SQLite 3.28 or later, in a file that several connections can open.
	SQLite Dialect = "sqlite"
)
