package fsck

import (
	"cmp"
	"context"
	"slices"
)

// Each of these functions repairs one row that a check has found, if the problem is still there. It
// decides by the current rows alone. So another repair can complete one that ended early, and two
// repairs of the same rows do the same.

// mendName replaces a name that no path can have.
func (e *editor) mendName(ctx context.Context, key Key) error {
	r, err := e.byKey(ctx, key)
	if err != nil || r == nil || r.isRoot() || r.checkName() == nil {
		return err
	}
	moved := *r
	return e.settle(ctx, r, &moved, cleanName(r.name), 1, BadName)
}

// mendNoTree gives a row without a tree the tree of the transaction, if that is the tree of the
// nearest row above that has one. It also replaces a name that no path can have, since an index
// would refuse two equal ones in one tree.
func (e *editor) mendNoTree(ctx context.Context, key Key) error {
	r, err := e.byKey(ctx, key)
	if err != nil || r == nil || r.hasTree() {
		return err
	}
	places, err := newClimber(e.session).places(ctx, []*row{r})
	if err != nil || places[0].tree != e.tree {
		return err
	}
	moved, base := *r, r.name
	moved.tree = e.tree
	if r.checkName() != nil {
		base = cleanName(r.name)
	}
	return e.settle(ctx, r, &moved, base, 1, NoTree)
}

// mendBeside moves a row at the top below the root row of its tree. Its path stays the same, unless
// a sibling there has its name. A second root row gets the name "root".
func (e *editor) mendBeside(ctx context.Context, key Key) error {
	r, err := e.byKey(ctx, key)
	if err != nil || r == nil || !r.isTop() {
		return err
	}
	root, err := e.root(ctx, r.tree)
	if err != nil || root == nil || root.key == r.key {
		return err
	}
	moved := *r
	moved.parent = root.key
	return e.settle(ctx, r, &moved, cmp.Or(r.name, "root"), 1, BesideRoot)
}

// mendOrphan moves a row without a parent to lost+found.
func (e *editor) mendOrphan(ctx context.Context, key Key) error {
	r, err := e.byKey(ctx, key)
	if err != nil || r == nil || r.fault == faultNone {
		return err
	}
	return e.moveToLostFound(ctx, r, Orphan)
}

// mendCycle moves the row of a cycle with the smallest key to lost+found, with all rows below it.
func (e *editor) mendCycle(ctx context.Context, key Key) error {
	r, err := e.byKey(ctx, key)
	if err != nil || r == nil {
		return err
	}
	places, err := newClimber(e.session).places(ctx, []*row{r})
	if err != nil || places[0].state != cyclic || places[0].cycle.first != key {
		return err
	}
	return e.moveToLostFound(ctx, r, Cycle)
}

func (e *editor) moveToLostFound(ctx context.Context, r *row, why Kind) error {
	home, err := e.lostFound(ctx, r)
	if err != nil {
		return err
	}
	moved := *r
	moved.parent = home
	return e.settle(ctx, r, &moved, r.name, 1, why)
}

// mendSibling renames a row if a sibling with a smaller key has the same name.
func (e *editor) mendSibling(ctx context.Context, key Key) error {
	r, err := e.byKey(ctx, key)
	if err != nil || r == nil || r.isRoot() || r.nullName {
		return err
	}
	moved := *r
	taken, err := e.isTaken(ctx, r, "<", true)
	if err != nil || !taken {
		return err
	}
	return e.settle(ctx, r, &moved, r.name, 2, Duplicate)
}

// mendPaths writes the wrong paths of rows.
func (e *editor) mendPaths(ctx context.Context, keys []Key) error {
	rows, err := e.byKeys(ctx, keys, true)
	if err != nil {
		return err
	}
	order := make(map[Key]int, len(keys))
	for i, k := range keys {
		order[k] = i
	}
	slices.SortFunc(rows, func(a, b *row) int { return cmp.Compare(order[a.key], order[b.key]) })
	climb := newClimber(e.session)
	places, err := climb.places(ctx, rows)
	if err != nil {
		return err
	}
	for i, r := range rows {
		r.path, r.idPath = e.path(r, e.table.Path, r.path), e.path(r, e.table.IDPath, r.idPath)
		var set []assignment
		if p := climb.wrongPath(r, places[i]); p != nil && p.Kind == WrongPath {
			set = append(set, assignment{e.table.Path, text(p.Is), *p.Want})
		}
		if p := climb.wrongIDPath(r, places[i]); p != nil && p.Kind == WrongIDPath {
			set = append(set, assignment{e.table.IDPath, text(p.Is), *p.Want})
		}
		if len(set) == 0 {
			continue
		}
		if err := e.mendRow(ctx, r.key, WrongPath, func() error {
			return e.clearing(ctx, r, set, func() error { return e.update(ctx, r, WrongPath, set...) })
		}); err != nil {
			return err
		}
	}
	return nil
}

// text returns a nullable text as the value of a change.
func text(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}
