package fsck

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"maps"
)

// A unique index over names or paths can refuse a row although all rows will be right in the end:
// two siblings may have each other's path. A transaction that is refused is rolled back and done
// again with care. Each statement can then be undone alone. A row in the way is put aside, under a
// path that no row can have, and gets its right one in its turn. A name that is refused gets
// another number.
//
// A transaction is careful only after a refusal: only the database knows what its indexes hold
// equal.

// immediately has the database look at unique constraints with each statement, where they could
// wait for the end of the transaction.
func (e *editor) immediately(ctx context.Context) error {
	if !e.careful || e.dialect != PostgreSQL {
		return nil
	}
	return e.command(ctx, "SET CONSTRAINTS ALL IMMEDIATE")
}

// attempt runs f, which writes one row. Where a unique index refuses that, a careful transaction
// goes on as if f had not been run, and gets the refusal.
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

// mendRow runs mend for one row. A row that cannot be repaired is skipped: if the database refuses
// it, a careful transaction goes on as if it had not been tried.
func (e *editor) mendRow(ctx context.Context, key Key, why Kind, mend func() error) error {
	if e.careful {
		if err := e.command(ctx, "SAVEPOINT pathlock_row"); err != nil {
			return err
		}
	}
	noted, aside := len(e.changes), maps.Clone(e.aside)
	err := mend()
	_, left := errors.AsType[leftError](err)
	switch {
	case err != nil && !left && (!e.careful || !isRefused(err)):
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

// clearing runs write, which gives r the paths in set, and puts aside what is in its way.
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

// putAside gives the rows that have the path which r is to get another one, for as long as their
// own has not been written. One that has it by right, or is not part of the tree, stays.
func (e *editor) putAside(ctx context.Context, r *row, a assignment, refusal error) error {
	cols := e.columnsAs("c")
	column := cols.path
	if a.column == e.table.IDPath {
		column = cols.idPath
	}
	var keys []Key
	query := fmt.Sprintf("SELECT %s FROM %s AS c WHERE %s = ? AND %s = ?", cols.key, e.dialect.quote(e.table.Table), cols.tree, column)
	if err := e.each(ctx, query, []any{r.tree.arg(), a.new}, func(scan func(...any) error) error {
		var value any
		if err := scan(&value); err != nil {
			return fmt.Errorf("fsck: read %s: %w", e.table.Table, err)
		}
		key, err := e.readKey(e.table.Key, value)
		if key != r.key {
			keys = append(keys, key)
		}
		return err
	}); err != nil || len(keys) == 0 {
		return err
	}
	rows, err := e.byKeys(ctx, keys, true)
	if err != nil {
		return err
	}
	if len(rows) < len(keys) {
		return leftError{fmt.Errorf("it cannot get its path %q, which one of the rows %v has, and that is deleted: give that one another path: %w", a.new, keys, refusal)}
	}
	climb := &climber{session: e.session, memo: newMemo()}
	places, err := climb.places(ctx, rows)
	if err != nil {
		return err
	}
	for i, held := range rows {
		is, right := held.path, places[i].path
		if a.column == e.table.IDPath {
			is, right = held.idPath, places[i].idPath
		}
		if places[i].state == placed && is.String == right {
			return leftError{fmt.Errorf("it cannot get its path %q, since row %v has %q by right, and an index holds them equal: rename one: %w", a.new, held.key, right, refusal)}
		}
		aside := asidePath(held.key, e.limits[a.column])
		if err := e.update(ctx, held, WrongPath, assignment{a.column, is.String, aside}); err != nil {
			return err
		}
		e.aside[value{held.key, a.column}] = aside
	}
	return nil
}

// path returns what a path column of a row has by now, of which another value was read before.
func (e *editor) path(r *row, column string, read sql.NullString) sql.NullString {
	if aside, ok := e.aside[value{r.key, column}]; ok {
		return sql.NullString{String: aside, Valid: true}
	}
	return read
}

// asidePath returns a path that no row can have, since it does not begin with a slash, and another
// one for each key.
func asidePath(key Key, most limit) string {
	return fit(fmt.Sprintf("fsck:%.16x", sha256.Sum256([]byte(key.String()))), most)
}
