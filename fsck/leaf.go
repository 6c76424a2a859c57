package fsck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// readLeaves reads the live leaves of a table below the live rows.
func (f *forest) readLeaves(ctx context.Context, tx *sql.Tx, leaf *catalogue, tree Key) (err error) {
	where, args := f.among(tree, false)
	l, c := leaf.columnsAs("l"), f.columnsAs("c")
	query := fmt.Sprintf("SELECT %s, %s FROM %s AS l JOIN %s AS c ON %s = %s %s AND %s ORDER BY %s",
		strings.Join([]string{l.key, l.tree, l.parent, l.name, l.path, l.idPath}, ", "), c.key,
		f.dialect.Quote(leaf.table.Table), f.dialect.Quote(f.table.Table), c.key, l.parent, where, l.live, l.key)
	rows, err := tx.QueryContext(ctx, f.dialect.Bind(query), args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r, above := &row{leaf: leaf, order: int32(len(f.leafRows))}, any(nil) //nolint:gosec // memory ends before
		if err := leaf.scan(rows, r, &above); err != nil {
			return err
		}
		key, err := f.readKey(f.table.Key, above)
		if err != nil {
			return err
		}
		if r.up = f.byKey[key]; r.up != nil {
			r.tree = r.up.tree
			f.leafRows = append(f.leafRows, r)
		}
	}
	return rows.Err()
}

// settleLeaf sets the place of a leaf from that of the row above. One with a key that its path of
// ids cannot have has none.
func (f *forest) settleLeaf(r *row) {
	name, leaf := r.name, r.leaf
	r.place = place{state: detached}
	if r.up.state != placed || !leaf.idForm.OfParent && leaf.checkKey(r.key) != nil {
		return
	}
	if leaf.pathForm.OfParent {
		name = "-" // it is not in the column
	}
	unnamed := leaf.table.Path != "" && !leaf.pathForm.OfParent && leaf.checkName(&r.seat) != nil
	r.place = place{state: placed, wantPath: r.up.wantPath + "/" + name, wantIDPath: r.up.wantIDPath + "/" + r.key.String(), unnamed: unnamed}
}

// unfit reports a leaf with a name, or a key, that its path cannot have.
func (f *forest) unfit(r *row) *Problem {
	switch {
	case r.unnamed:
		return f.badName(r)
	case r.state != placed && r.up.state == placed:
		return r.problem(BadName, "no path of ids can have its key")
	default:
		return nil
	}
}
