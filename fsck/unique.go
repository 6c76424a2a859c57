package fsck

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"maps"
)

// A unique index over names or paths may refuse a row, although all rows will be right in the end:
// two siblings may have each other's path. The repair rolls a refused transaction back, and runs it
// again with care: each statement can then be undone alone. It puts a row in the way aside, under a
// path that no row can have, until the row gets its right path. If a name is refused, the row gets
// the next number.
//
// A transaction is careful only after a refusal, since only the database knows what its indexes
// treat as equal.

// constrainAtOnce has PostgreSQL check deferred constraints with each statement, and not only at
// the commit.
func (e *editor) constrainAtOnce(ctx context.Context) error {
	if !e.careful || e.dialect != PostgreSQL {
		return nil
	}
	return e.command(ctx, "SET CONSTRAINTS ALL IMMEDIATE")
}

// attempt runs f, which writes one row. If a unique index refuses that, a careful transaction
// undoes f and returns the refusal.
func (e *editor) attempt(ctx context.Context, f func() error) (refusal, err error) {
	if !e.careful {
		return nil, f()
	}
	if err := e.command(ctx, "SAVEPOINT pathlock"); err != nil {
		return nil, err
	}
	noted := len(e.changes)
	err = f()
	if err != nil && !isDuplicate(err) {
		return nil, err
	}
	refusal = err
	if refusal != nil {
		e.changes = e.changes[:noted]
		if err := e.command(ctx, "ROLLBACK TO SAVEPOINT pathlock"); err != nil {
			return nil, errors.Join(refusal, err)
		}
	}
	return refusal, e.command(ctx, "RELEASE SAVEPOINT pathlock")
}

// mendRow runs mend for one row, and skips the row if it cannot be repaired. If the database
// refuses the row, a careful transaction undoes mend and goes on.
func (e *editor) mendRow(ctx context.Context, key Key, why Kind, mend func() error) error {
	if e.careful {
		if err := e.command(ctx, "SAVEPOINT pathlock_row"); err != nil {
			return err
		}
	}
	noted, aside := len(e.changes), maps.Clone(e.aside)
	err := mend()
	_, skipped := errors.AsType[skipError](err)
	switch {
	case err != nil && !skipped && (!e.careful || !isRefused(err)):
		return err
	case err != nil:
		e.changes, e.aside = e.changes[:noted], aside
		e.skips = append(e.skips, Skip{Tree: e.tree, ID: key, Why: why, Reason: err.Error()})
		if e.careful {
			e.known.forget()
			if err := e.command(ctx, "ROLLBACK TO SAVEPOINT pathlock_row"); err != nil {
				return err
			}
		}
	}
	if !e.careful {
		return nil
	}
	return e.command(ctx, "RELEASE SAVEPOINT pathlock_row")
}

// clearing runs write, which gives r the paths in set, and puts aside the rows in its way.
func (e *editor) clearing(ctx context.Context, r *row, set []assignment, write func() error) error {
	for {
		refusal, err := e.attempt(ctx, write)
		if refusal == nil || err != nil {
			return err
		}
		before := len(e.changes)
		for _, a := range set {
			if a.column != "" && a.new != nil {
				if err := e.putAside(ctx, r, a, refusal); err != nil {
					return err
				}
			}
		}
		if len(e.changes) == before {
			return refusal // by an index over something else
		}
	}
}

// putAside gives another path to the rows that have the path of r, until their right ones are
// written. It returns a skipError if one of them rightly has the path, or is deleted.
func (e *editor) putAside(ctx context.Context, r *row, a assignment, refusal error) error {
	cols := e.columnsAs("c")
	column := cols.path
	if a.column == e.table.IDPath {
		column = cols.idPath
	}
	var keys []Key
	query := fmt.Sprintf("SELECT %s FROM %s AS c WHERE %s = ? AND %s = ?", cols.key, e.dialect.quote(e.table.Table), cols.tree, column)
	if err := e.eachKey(ctx, query, []any{r.tree.arg(), a.new}, e.table.Key, func(key Key) {
		if key != r.key {
			keys = append(keys, key)
		}
	}); err != nil || len(keys) == 0 {
		return err
	}
	rows, err := e.byKeys(ctx, keys, true)
	if err != nil {
		return err
	}
	if len(rows) < len(keys) {
		return skipError{fmt.Errorf("it cannot get its path %q: one of the rows %v has it and is deleted: give that row another path: %w", a.new, keys, refusal)}
	}
	places, err := newClimber(e.session).places(ctx, rows)
	if err != nil {
		return err
	}
	for i, held := range rows {
		is, right := held.path, places[i].path
		if a.column == e.table.IDPath {
			is, right = held.idPath, places[i].idPath
		}
		if places[i].state == placed && is.String == right {
			return skipError{fmt.Errorf("it cannot get its path %q: row %v has %q by right, and an index treats them as equal: rename one: %w", a.new, held.key, right, refusal)}
		}
		aside := asidePath(held.key, e.limits[a.column])
		if err := e.update(ctx, held, WrongPath, assignment{a.column, is.String, aside}); err != nil {
			return err
		}
		e.aside[cell{held.key, a.column}] = aside
	}
	return nil
}

// path returns the current value of a path column, which may have been put aside since it was read.
func (e *editor) path(r *row, column string, read sql.NullString) sql.NullString {
	if aside, ok := e.aside[cell{r.key, column}]; ok {
		return sql.NullString{String: aside, Valid: true}
	}
	return read
}

// asidePath returns a path for a key that no row can have, since it does not begin with a slash.
func asidePath(key Key, most limit) string {
	return fit(fmt.Sprintf("fsck:%.16x", sha256.Sum256([]byte(key.String()))), most)
}

// skipError says why a row stays as it is. Outside of a careful transaction, no statement has
// failed.
type skipError struct{ why error }

func (e skipError) Error() string { return e.why.Error() }

func (e skipError) Unwrap() error { return e.why }
