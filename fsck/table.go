package fsck

import (
	"cmp"
	"errors"
	"slices"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Table describes a table that holds trees, by the database's names. A repair increments Version
// whenever it changes the row, and leaves Fence alone. What Leaves have besides paths is not
// checked. In a table without names, orphans and broken cycles go to the top.
type Table = treetable.Table

// DefaultTable describes a table with the columns of gormplugin's example: id, plan_id, parent_id,
// name, path and deleted_at.
func DefaultTable(name string) Table {
	return Table{Table: name, Key: "id", Tree: "plan_id", Parent: "parent_id", Name: "name", Path: "path", Deleted: "deleted_at"}
}

// ErrTable is matched by the error for a [Table] that is incomplete or contradictory, or that names
// a table or a column that the database does not have, and for a table with a row in no tree, or
// with a path of ids and a key that none can have.
var ErrTable = errors.New("fsck: table")

// ErrNoColumn is matched, besides [ErrTable], if the table exists and lacks a column.
var ErrNoColumn = errors.New("no such column")

// checked returns the description as the checker takes it: with the default namespace, and without
// what it does not look at.
func checked(table Table) Table {
	table.Namespace, table.Fence = cmp.Or(table.Namespace, table.Table), ""
	table.Leaves = slices.Clone(table.Leaves)
	for i := range table.Leaves {
		leaf := &table.Leaves[i]
		leaf.Tree, leaf.SingleTree, leaf.Fence, leaf.Leaves = "", "", "", nil
	}
	return table
}

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
