package fsck

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"maps"
	"slices"
)

// asidePath returns a path for a key that no row has: hardly any form of paths begins so, and no
// row has the name.
func asidePath(key Key, most limit) string {
	return fit(fmt.Sprintf("fsck:%.16x", sha256.Sum256([]byte(key.String()))), most)
}

// clear gives another path to rows that wrongly have one that a row is to get, and reports whether
// there were any.
func (w *writer) clear(ctx context.Context, r *row, set []assignment) (cleared bool, err error) {
	for _, a := range set {
		// No index over the paths of leaves is known to be right.
		if r.leaf != nil || a.column != w.table.Path && a.column != w.table.IDPath {
			continue
		}
		asides, err := w.wrongHolders(ctx, r.key, a)
		if err != nil {
			return false, err
		}
		for _, r := range slices.SortedFunc(maps.Keys(asides), func(a, b *row) int { return cmp.Compare(a.order, b.order) }) {
			aside := asidePath(r.key, w.limits[a.column])
			set := []assignment{{a.column, asides[r], aside}}
			if err := w.update(ctx, r, set); err != nil {
				return false, err
			}
			w.note(r, WrongPath, false, set)
			if now := w.now[r.id()]; now != nil {
				w.setPath(now, a.column, aside)
			}
			cleared = true
		}
	}
	return cleared, nil
}

// wrongHolders returns the rows, besides the one with a key, that wrongly have the path that it is
// to get, and how they have it.
func (w *writer) wrongHolders(ctx context.Context, key Key, a assignment) (map[*row]string, error) {
	at := w.dialect.Quote(a.column)
	query := fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s = ?", w.dialect.Quote(w.table.Key), at, w.dialect.Quote(w.table.Table), at)
	args := []any{a.new}
	if w.table.Tree != "" {
		query, args = query+" AND "+w.dialect.Quote(w.table.Tree)+" = ?", append(args, w.tree.arg())
	}
	holders := make(map[*row]string)
	err := w.each(ctx, w.tx, query, args, func(rows *sql.Rows) error {
		var value any
		var is string
		if err := rows.Scan(&value, &is); err != nil {
			return err
		}
		holder, err := w.readKey(w.table.Key, value)
		if r := w.byKey[holder]; r != nil && holder != key {
			w.unpad(a.column, &is)
			if r.state != placed || slices.ContainsFunc(w.wrongPaths(r, &row{held: held{path: &is, idPath: &is}}), func(b assignment) bool { return a.column == b.column }) {
				holders[r] = is
			}
		}
		return err
	})
	return holders, err
}
