package fsck

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// skipError says why a row stays as it is.
type skipError struct{ why error }

func (e skipError) Error() string { return e.why.Error() }

func (e skipError) Unwrap() error { return e.why }

// renumberings bounds how many numbers are tried. After that, a refusal cannot be about the name.
const renumberings = 100

// attempt runs f, which makes an edit, and undoes it if the database refuses it. If a unique index
// refused it, attempt tries again: after free has moved aside what may be in the way, or otherwise
// with the next number after the name.
func (w *writer) attempt(ctx context.Context, e *edit, free func() (freed bool, err error), f func() error) error {
	if w.tx == nil {
		return f()
	}
	for try := 1; ; try++ {
		if err := w.command(ctx, "SAVEPOINT pathlock"); err != nil {
			return err
		}
		refusal := f()
		if refusal == nil {
			return w.command(ctx, "RELEASE SAVEPOINT pathlock")
		}
		if !w.isRefused(refusal) {
			return refusal
		}
		if err := w.command(ctx, "ROLLBACK TO SAVEPOINT pathlock"); err != nil {
			return errors.Join(refusal, err)
		}
		if w.dialect.Classify(refusal) != dialect.FailureDuplicate {
			return skipError{refusal}
		}
		switch freed, err := free(); {
		case err != nil:
			return err
		case freed:
			continue
		case e.why == WrongPath, w.table.Name == "":
			return skipError{refusal}
		case try == renumberings:
			return skipError{fmt.Errorf("refused with %d names: %w", renumberings, refusal)}
		}
		w.renumber(e, e.number+1)
	}
}

// asidePath returns a path for a key that no row has: hardly any form of paths begins so, and no
// row has the name.
func asidePath(key Key, most limit) string {
	return fit(fmt.Sprintf("fsck:%.16x", sha256.Sum256([]byte(key.String()))), most)
}

// clear gives another path to rows that wrongly hold a path that another row is to get, and reports
// whether there were any.
func (w *writer) clear(ctx context.Context, r *row, set []assignment) (cleared bool, err error) {
	for _, a := range set {
		// No index over the paths of leaves is known to be right.
		if r.leaf != nil || a.column != w.table.Path && a.column != w.table.IDPath {
			continue
		}
		asides, old, err := w.wrongHolders(ctx, r.key, a)
		if err != nil {
			return false, err
		}
		for i, r := range asides {
			aside := asidePath(r.key, w.limit(a.column))
			set := []assignment{{a.column, old[i], aside, a.at}}
			if err := w.update(ctx, r, set); err != nil {
				return false, err
			}
			w.note(r, WrongPath, false, set)
			if now := w.now[r.id()]; now != nil {
				*a.at.is(now) = &aside
			}
			cleared = true
		}
	}
	return cleared, nil
}

// wrongHolders returns the rows that wrongly hold the path that the row with a key is to get, and
// how they hold it.
func (w *writer) wrongHolders(ctx context.Context, key Key, a assignment) (holders []*row, paths []string, err error) {
	at := w.dialect.Quote(a.column)
	query := fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s = ?", w.dialect.Quote(w.table.Key), at, w.dialect.Quote(w.table.Table), at)
	args := []any{a.new}
	if w.table.Tree != "" {
		query, args = query+" AND "+w.dialect.Quote(w.table.Tree)+" = ?", append(args, w.tree.arg())
	}
	err = w.each(ctx, w.tx, query+" ORDER BY "+w.dialect.Quote(w.table.Key), args, func(rows *sql.Rows) error {
		var value any
		var is string
		if err := rows.Scan(&value, &is); err != nil {
			return err
		}
		holder, err := w.readKey(w.table.Key, value)
		if r := w.byKey[holder]; r != nil && holder != key {
			w.unpad(a.column, &is)
			if r.state != placed || slices.ContainsFunc(w.wrongPaths(r, &row{held: held{path: &is, idPath: &is}}), func(b assignment) bool { return a.column == b.column }) {
				holders, paths = append(holders, r), append(paths, is)
			}
		}
		return err
	})
	return holders, paths, err
}
