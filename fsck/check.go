package fsck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
func New(ctx context.Context, db *sql.DB, dialect Dialect, table Table) (*Checker, error) {
	if err := table.validate(); err != nil {
		return nil, err
	}
	if dialect < MySQL || dialect > SQLite {
		return nil, fmt.Errorf("%w: %v is not a dialect", ErrTable, dialect)
	}
	c := &catalogue{db: db, dialect: dialect, table: table}
	if err := c.inspect(ctx); err != nil {
		return nil, err
	}
	return &Checker{c}, nil
}

// Options are the options of [Checker.Check]. The zero value checks the whole table.
type Options struct {
	// Tree restricts the check to one tree; the zero Key means all trees.
	Tree Key
	// Progress, if set, is called now and then with the rows examined so far, and with all rows.
	Progress func(done, total int64)
}

// pageRows is the number of rows that are read and examined at once.
const pageRows = 500

// Check reads every live row of the table, in one state of the database, and calls report for each
// problem. It runs one check after the other, each in the order of keys. An error of report ends
// the check, which returns the error.
//
// Memory depends neither on the number of rows or trees nor on the trees' shapes.
func (c *Checker) Check(ctx context.Context, opts Options, report func(Problem) error) (summary Summary, err error) {
	defer func() { err = canceled(ctx, err) }()
	summary.Problems = make(map[Kind]int64)
	conn, giveBack, err := c.connect(ctx)
	if err != nil {
		return summary, fmt.Errorf("fsck: check %s: %w", c.table.Table, err)
	}
	defer giveBack()
	tx, err := conn.BeginTx(ctx, c.dialect.snapshot())
	if err != nil {
		return summary, fmt.Errorf("fsck: check %s: %w", c.table.Table, err)
	}
	defer func() {
		if ended := tx.Rollback(); ended != nil && !errors.Is(ended, sql.ErrTxDone) {
			err = errors.Join(err, fmt.Errorf("fsck: check %s: %w", c.table.Table, ended))
		}
	}()
	s := &session{catalogue: c.catalogue, tx: tx}
	counted := func(p Problem) error {
		summary.Problems[p.Kind]++
		return report(p)
	}
	if summary.Rows, err = s.scan(ctx, opts, counted); err != nil {
		return summary, err
	}
	for _, check := range []func(context.Context, Key, func(Problem) error) error{s.besideRoots, s.siblings, s.mixed} {
		if err := check(ctx, opts.Tree, counted); err != nil {
			return summary, err
		}
	}
	return summary, nil
}

// scan examines all rows, page by page.
func (s *session) scan(ctx context.Context, opts Options, report func(Problem) error) (rows int64, err error) {
	total := int64(0)
	if opts.Progress != nil {
		if total, err = s.count(ctx, opts.Tree); err != nil {
			return 0, err
		}
	}
	climb := newClimber(s)
	var after *Key
	for {
		page, err := s.page(ctx, opts.Tree, after, pageRows)
		if err != nil || len(page) == 0 {
			return rows, err
		}
		if after != nil && page[0].key == *after {
			return rows, fmt.Errorf("%w %q: the database finds no row beyond the key %v: keys must be whole numbers, texts or bytes", ErrTable, s.table.Table, *after)
		}
		if err := climb.examine(ctx, page, report); err != nil {
			return rows, err
		}
		after = &page[len(page)-1].key
		rows += int64(len(page))
		if opts.Progress != nil {
			opts.Progress(rows, max(rows, total))
		}
	}
}

// count returns the number of live rows.
func (s *session) count(ctx context.Context, tree Key) (n int64, err error) {
	cols := s.columnsAs("c")
	inTree, args := s.inTree(cols.tree, tree)
	query := "SELECT COUNT(*) FROM " + s.dialect.quote(s.table.Table) + " AS c WHERE " + cols.live + inTree
	err = s.each(ctx, query, args, func(scan func(...any) error) error { return scan(&n) })
	return n, err
}
