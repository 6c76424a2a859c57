package fsck

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
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
