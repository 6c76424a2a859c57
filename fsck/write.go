package fsck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// writer makes edits of one tree in a transaction or, in a dry run, in memory alone.
//
// A unique index over names or paths may refuse a row, although all rows will be right in the end:
// two siblings may have each other's path. So each edit can be undone alone. A row in the way gets
// a path that no row can have, until it gets its right one. If a name is refused, the row gets the
// next number.
type writer struct {
	*plan
	tree Key
	// tx is nil in a dry run.
	tx     *sql.Tx
	number int
	// now has the rows that the transaction has locked, as they are now.
	now     map[rowID]*row
	changes []Change
	// skips are the rows that stay as they are, and outdated is set if others have changed some.
	skips    []Skip
	outdated bool
	// inserted are the lost+founds that the transaction has created.
	inserted []*creation
}

// assignment gives a column a new value. at is set if the value follows from where the row is.
type assignment struct {
	column   string
	old, new any
	at       *following
}

// forget takes the keys back that a rolled-back transaction gave to new rows.
func (w *writer) forget() {
	for _, c := range w.inserted {
		c.row.key, c.made = c.fresh, false
	}
}

// write makes the edits.
func (w *writer) write(ctx context.Context, edits []*edit) error {
	if w.tx != nil {
		if err := w.lock(ctx, edits); err != nil {
			return err
		}
		if now := w.dialect.CheckDeferred; now != "" { // and not at the commit
			if err := w.command(ctx, now); err != nil {
				return err
			}
		}
	}
	for _, e := range edits {
		if w.tx != nil && w.isOutdated(e) {
			w.outdated = true
			continue
		}
		do := w.move
		if e.why == WrongPath {
			do = w.writePaths
		}
		err := do(ctx, e)
		if why, skipped := errors.AsType[skipError](err); skipped {
			kind := e.why
			if kind == WrongPath && w.of(e.row).table.Path == "" {
				kind = WrongIDPath
			}
			w.skips = append(w.skips, Skip{Tree: w.tree, Leaves: e.row.id().leaves, ID: e.row.key, Why: kind, Reason: why.Error()})
		} else if err != nil {
			return err
		}
	}
	return nil
}

// chunk bounds how many keys one statement asks for.
const chunk = 500

// lock reads and locks the rows of edits, all rows above them, and the rows that caused the edits.
func (w *writer) lock(ctx context.Context, edits []*edit) error {
	keys := make(map[*catalogue][]Key)
	wanted := make(map[*row]bool)
	add := func(r *row) {
		for ; r != nil && !wanted[r]; r = r.above() {
			wanted[r] = true
			if !r.key.isFresh() {
				keys[r.leaf] = append(keys[r.leaf], r.key)
			}
		}
	}
	for _, e := range edits {
		add(e.row)
		add(e.up)
		for _, other := range e.because {
			add(other.row)
		}
	}
	// Leaves come last, as in the writes of others.
	for _, leaf := range append([]*catalogue{nil}, w.leaves...) {
		if err := w.lockKeys(ctx, leaf, keys[leaf]); err != nil {
			return err
		}
	}
	return nil
}

// lockKeys reads and locks rows of the table, or of one of leaves.
func (w *writer) lockKeys(ctx context.Context, leaf *catalogue, keys []Key) error {
	of := w.of(&row{leaf: leaf})
	c := of.columnsAs("c")
	for part := range slices.Chunk(keys, chunk) {
		args := make([]any, len(part))
		for i, k := range part {
			args[i] = k.arg()
		}
		query := fmt.Sprintf("SELECT %s FROM %s AS c WHERE %s AND %s IN (?%s) %s", c.all,
			w.dialect.Quote(of.table.Table), c.live, c.key, strings.Repeat(", ?", len(part)-1), w.dialect.Update)
		if err := w.each(ctx, w.tx, query, args, func(rows *sql.Rows) error {
			r := &row{leaf: leaf}
			err := of.scan(rows, r)
			if leaf != nil {
				r.tree = w.tree
			}
			w.now[r.id()] = r
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// isOutdated reports whether others have changed a row on which an edit depends.
func (w *writer) isOutdated(e *edit) bool {
	is := func(r *row, was seat) bool {
		if r.key.isFresh() {
			return true
		}
		now := w.now[r.id()]
		if w.creations[r] != nil {
			was = r.seat // an index may have refused the planned name
		}
		return now != nil && now.seat == was
	}
	if e.why != WrongPath {
		return !is(e.row, e.was) || slices.ContainsFunc(e.because, func(other witness) bool { return !is(other.row, other.was) })
	}
	for r := e.row; r != nil; r = r.above() {
		if !is(r, r.seat) {
			return true
		}
	}
	return false
}

// move gives a row its parent and name.
func (w *writer) move(ctx context.Context, e *edit) error {
	if home := w.creations[e.up]; home != nil && !home.made {
		if err := w.create(ctx, home, e.row.key); err != nil {
			return err
		}
	}
	return w.attempt(ctx, e, func() (bool, error) { return false, nil }, func() error {
		to := e.to
		if e.up != nil && to.parent.isFresh() {
			to.parent = e.up.key
		}
		var set []assignment
		if to.parent != e.was.parent {
			set = append(set, assignment{column: w.table.Parent, old: e.was.parent.value(), new: to.parent.value()})
		}
		if to.name != e.was.name || e.was.nullName {
			set = append(set, assignment{column: w.table.Name, old: e.was.nameValue(), new: to.name})
		}
		if err := w.update(ctx, e.row, set); err != nil {
			return err
		}
		w.note(e.row, e.why, false, set)
		if now := w.now[e.row.id()]; now != nil {
			now.seat = to
		}
		return nil
	})
}

func (w *writer) command(ctx context.Context, statement string) error {
	if _, err := w.tx.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("fsck: repair %s: %w", w.table.Table, err)
	}
	return nil
}

// note records changes of a row.
func (w *writer) note(r *row, why Kind, insert bool, set []assignment) {
	for _, a := range set {
		kind := why
		if kind == WrongPath && a.at != nil {
			kind = a.at.kind
		}
		w.changes = append(w.changes, Change{
			Transaction: w.number, Table: w.of(r).table.Table, Tree: r.tree, ID: r.key, Insert: insert, Column: a.column, Old: a.old, New: a.new, Why: kind,
		})
	}
}

// update changes columns of a row.
func (w *writer) update(ctx context.Context, r *row, set []assignment) error {
	if w.tx == nil || len(set) == 0 {
		return nil
	}
	table := w.of(r).table
	var columns []string
	var args []any
	for _, a := range set {
		columns, args = append(columns, w.dialect.Quote(a.column)+" = ?"), append(args, argument(a.new))
	}
	if table.Version != "" {
		version := w.dialect.Quote(table.Version)
		columns = append(columns, version+" = "+version+" + 1")
	}
	query := fmt.Sprintf("UPDATE %s SET %s WHERE %s = ?", w.dialect.Quote(table.Table), strings.Join(columns, ", "), w.dialect.Quote(table.Key))
	if _, err := w.tx.ExecContext(ctx, w.dialect.Bind(query), append(args, r.key.arg())...); err != nil {
		return fmt.Errorf("fsck: change row %v of %s: %w", r.key, table.Table, err)
	}
	return nil
}

// argument returns the value of a change as an argument of a statement.
func argument(v any) any {
	if k, ok := v.(Key); ok {
		return k.arg()
	}
	return v
}

// writePaths writes the wrong paths of a row.
func (w *writer) writePaths(ctx context.Context, e *edit) error {
	is := e.row
	if w.tx != nil {
		is = w.now[e.row.id()]
	}
	set := w.wrongPaths(e.row, is)
	return w.attempt(ctx, e, func() (bool, error) { return w.clear(ctx, e.row, set) }, func() error {
		if err := w.update(ctx, e.row, set); err != nil {
			return err
		}
		w.note(e.row, WrongPath, false, set)
		for _, a := range set { // a dry run looks there for what is left
			*a.at.is(is) = new(fmt.Sprint(a.new))
		}
		return nil
	})
}
