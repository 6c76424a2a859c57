package fsck

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pathlock-go/pathlock"
)

// place is where a row belongs, as its parents say.
type place struct {
	state state
	// depth is the number of names in the path.
	depth uint16
	// wantPath and wantIDPath are the row's right paths, as "/a/b".
	wantPath, wantIDPath string
	// unnamed is set for a leaf whose path cannot contain its name. Such a leaf keeps its path.
	unnamed bool
}

// state says where climbing from a row ends.
type state uint8

const (
	unknown state = iota
	// underway: the row is on the climb in progress.
	underway
	// placed: at the top. The row has a path.
	placed
	// tooDeep: at the top, past more rows than a path can have names.
	tooDeep
	// detached: at an orphan, or at a name that no path can have.
	detached
	// cyclic: nowhere, on a cycle.
	cyclic
)

// locate finds the places of all rows. They follow from names and parents alone, never from stored
// paths.
func (f *forest) locate() {
	f.cycles = make(map[*row][]*row)
	for _, r := range f.rows {
		r.state = unknown
	}
	var way []*row
	for _, r := range f.rows {
		way = way[:0]
		for at := r; at != nil && at.state <= underway; at = at.above() {
			if at.state == underway {
				f.addCycle(at)
				break
			}
			at.state = underway
			way = append(way, at)
		}
		for i := len(way) - 1; i >= 0; i-- {
			if way[i].state == underway {
				f.settleBelow(way[i], way[i].above())
			}
		}
	}
	for _, r := range f.leafRows {
		f.settleLeaf(r)
	}
}

// addCycle notes the cycle that a row is on, upwards from the row with the smallest key.
func (f *forest) addCycle(at *row) {
	first := at
	for r := at.up; r != at; r = r.up {
		if r.order < first.order {
			first = r
		}
	}
	members := []*row{first}
	first.state = cyclic
	for r := first.up; r != first; r = r.up {
		r.state = cyclic
		members = append(members, r)
	}
	f.cycles[first] = members
}

// settleBelow derives the place of a row from its parent's. The parent is nil where the climb ends.
func (f *forest) settleBelow(r, parent *row) {
	r.place = place{state: placed}
	switch {
	case parent == nil && r.fault != faultNone:
		r.state = detached
		return
	case r.isRoot():
		r.wantIDPath = "/" + r.key.String()
		return
	case parent != nil && parent.state != placed:
		r.state = parent.state
		return
	case f.checkName(&r.seat) != nil:
		r.state = detached
		return
	case parent != nil:
		r.place = parent.place
	}
	if r.depth >= pathlock.MaxDepth {
		r.place = place{state: tooDeep}
		return
	}
	r.depth++
	if f.table.Path != "" {
		r.wantPath = r.wantPath + "/" + r.name
	}
	if f.table.IDPath != "" {
		r.wantIDPath = r.wantIDPath + "/" + r.key.String()
	}
}

// readLeaves reads the live leaves of a table below the live rows.
func (f *forest) readLeaves(ctx context.Context, tx *sql.Tx, leaf *catalogue, tree Key) error {
	where, args := f.among(tree, false)
	l, c := leaf.columnsAs("l"), f.columnsAs("c")
	query := fmt.Sprintf("SELECT %s, %s FROM %s AS l JOIN %s AS c ON %s = %s %s AND %s ORDER BY %s",
		l.all, c.key,
		f.dialect.Quote(leaf.table.Table), f.dialect.Quote(f.table.Table), c.key, l.parent, where, l.live, l.key)
	return leaf.each(ctx, tx, query, args, func(rows *sql.Rows) error {
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
		return nil
	})
}

// settleLeaf derives the place of a leaf from that of the row above. A leaf has none if its path of
// ids cannot contain its key.
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

// unfit reports a leaf whose path cannot contain its name or its key.
func (f *forest) unfit(r *row) *Problem {
	switch {
	case r.unnamed:
		return f.badName(r)
	case r.state != placed && r.up.state == placed:
		return r.problem(BadName, nil, "no path of ids can have its key")
	default:
		return nil
	}
}
