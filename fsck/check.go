package fsck

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Table describes a table that holds trees, by the database's names. A repair increments Version
// whenever it changes the row, and leaves Fence alone. Of Leaves, only paths and depths are
// checked. In a table without names, orphans and broken cycles go to the top.
type Table = treetable.Table

// DefaultTable describes a table with the columns of gormplugin's example: id, plan_id, parent_id,
// name, path and deleted_at.
func DefaultTable(name string) Table {
	return Table{Table: name, Key: "id", Tree: "plan_id", Parent: "parent_id", Name: "name", Path: "path", Deleted: "deleted_at"}
}

// ErrTable is matched by the error for a [Table] that is incomplete or contradictory, or that names
// a table or a column that the database does not have. It is also matched if a row is in no tree,
// or if a table with a path of ids has a key that no such path can contain.
var ErrTable = errors.New("fsck: table")

// ErrNoColumn is matched, besides [ErrTable], if the table exists and lacks a column.
var ErrNoColumn = errors.New("no such column")

// checked returns the description as the checker uses it: with the default namespace, and without
// the parts that it ignores.
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

// Checker checks and repairs the trees of one table.
type Checker struct{ *catalogue }

// New returns a checker for a table. It asks the database for the columns' types.
//
// Errors match
//
//   - [ErrTable] if the description is incomplete or contradictory, or the database has no such table
//     or column;
//   - [ErrNoColumn], too, if the table exists and lacks a column.
func New(ctx context.Context, db *sql.DB, of Dialect, table Table) (*Checker, error) {
	table = checked(table)
	if err := table.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTable, err)
	}
	d, err := dialect.Of(of)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTable, err)
	}
	c, err := newCatalogue(ctx, db, d, table)
	if err != nil {
		return nil, err
	}
	for _, leaf := range table.Leaves {
		l, err := newCatalogue(ctx, db, d, leaf)
		if err != nil {
			return nil, err
		}
		c.leaves = append(c.leaves, l)
	}
	for _, below := range append([]*catalogue{c}, c.leaves...) {
		if is, up := below.schema[below.table.Parent], c.schema[c.table.Key]; treeschema.Clash(d, is, up) {
			return nil, fmt.Errorf("%w %q: the database refuses to compare %q, of the collation %s, with the key above, of %s: give both the same", ErrTable, below.table.Table, is.Name, is.Collation, up.Collation)
		}
	}
	return &Checker{c}, nil
}

// newCatalogue asks the database about a table, whose description is valid.
func newCatalogue(ctx context.Context, db *sql.DB, d *dialect.Dialect, table Table) (*catalogue, error) {
	c := &catalogue{db: db, dialect: d, table: table}
	c.pathForm, _ = treetable.ParseForm(table.PathForm)
	c.idForm, _ = treetable.ParseForm(table.IDPathForm)
	c.setFollowing()
	return c, c.inspect(ctx)
}

// Options are the options of [Checker.Check]. The zero value checks the whole table.
type Options struct {
	// Tree restricts the check to one tree; the zero Key means all trees.
	Tree Key
}

// Check reads every live row of the table, in one state of the database, and calls report for each
// problem. It runs one check after the other, each in the order of keys. An error of report ends
// the check, which returns the error.
func (c *Checker) Check(ctx context.Context, opts Options, report func(Problem) error) (summary Summary, err error) {
	defer func() { err = canceled(ctx, err) }()
	f, err := c.read(ctx, opts.Tree, false)
	if err != nil {
		return Summary{Problems: make(map[Kind]int64)}, err
	}
	return f.tell(report)
}

// tell reports and counts the problems.
func (f *forest) tell(report func(Problem) error) (Summary, error) {
	summary := Summary{Rows: int64(len(f.rows) + len(f.leafRows)), Problems: make(map[Kind]int64)}
	err := f.problems(func(p Problem) error {
		summary.Problems[p.Kind]++
		return report(p)
	})
	return summary, err
}
