package fsck

import (
	"cmp"
	"context"
	"slices"
)

// Each of these mends one row that a check found, if something is still wrong with it. What it does
// depends on nothing but the rows as they are. So a repair that ended early can be completed by
// another one, and two repairs of the same rows do the same.

// mendName gives a row whose name no path can have one that it can.
func (e *editor) mendName(ctx context.Context, key Key) error {
	r, err := e.byKey(ctx, key)
	if err != nil || r == nil || r.isRoot() || r.checkName() == nil {
		return err
	}
	moved := *r
	return e.settle(ctx, r, &moved, cleanName(r.name), 1, BadName)
}

// mendTree gives a row that is in no tree the one of the nearest row above that is in one, which is
// that of the transaction. There, its name may be taken; one that no path can have is mended on the
// way, since an index would refuse two of them alike.
func (e *editor) mendTree(ctx context.Context, key Key) error {
	r, err := e.byKey(ctx, key)
	if err != nil || r == nil || r.hasTree() {
		return err
	}
	climb := &climber{session: e.session, memo: newMemo()}
	places, err := climb.places(ctx, []*row{r})
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

// mendBeside puts a row at the top below the root row of its tree. It keeps its path then, unless a
// sibling there has its name. A second root row is called "root".
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

// mendCycle breaks a cycle at the row with the smallest key, which goes to lost+found with all that
// is below it.
func (e *editor) mendCycle(ctx context.Context, key Key) error {
	r, err := e.byKey(ctx, key)
	if err != nil || r == nil {
		return err
	}
	climb := &climber{session: e.session, memo: newMemo()}
	places, err := climb.places(ctx, []*row{r})
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

// mendSibling gives a row another name if a sibling with a smaller key has the same one.
func (e *editor) mendSibling(ctx context.Context, key Key) error {
	r, err := e.byKey(ctx, key)
	if err != nil || r == nil || r.isRoot() || r.nameless {
		return err
	}
	moved := *r
	taken, err := e.isTaken(ctx, r, "<", true)
	if err != nil || !taken {
		return err
	}
	return e.settle(ctx, r, &moved, r.name, 2, Duplicate)
}

// mendPaths writes the paths of rows that have a place.
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
	climb := &climber{session: e.session, memo: newMemo()}
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

// text returns a nullable text as a change's value.
func text(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}
