package fsck

import (
	"context"
	"fmt"
	"math"
)

// renumberings is how many numbers are tried before a refusal is taken for one that no name helps
// against.
const renumberings = 100

// settle makes r look like moved, with the first name there that is free: base itself (from 1) or
// the first of "base (2)", "base (3)", … It goes on to the next one where a unique index refuses a
// name that looks free, as one over other columns or with another collation can.
func (e *editor) settle(ctx context.Context, r, moved *row, base string, from int, why Kind) error {
	for try := 1; ; try++ {
		n, err := e.takeFreeName(ctx, moved, base, from)
		if err != nil {
			return err
		}
		refusal, err := e.attempt(ctx, func() error { return e.relocate(ctx, r, moved, why) })
		switch {
		case refusal == nil || err != nil:
			return err
		case try == renumberings:
			return leftError{fmt.Errorf("refused with %d names: %w", renumberings, refusal)}
		}
		from = n + 1
	}
}

// relocate makes a row look like moved, which is a copy of it with another name, parent or tree.
func (e *editor) relocate(ctx context.Context, r, moved *row, why Kind) error {
	var set []assignment
	if moved.tree != r.tree {
		set = append(set, assignment{e.table.Tree, r.tree.value(), moved.tree.value()})
	}
	if moved.parent != r.parent {
		set = append(set, assignment{e.table.Parent, r.parent.value(), moved.parent.value()})
	}
	if moved.name != r.name || r.nameless && !moved.nameless {
		set = append(set, assignment{e.table.Name, r.nameValue(), moved.name})
	}
	if err := e.update(ctx, r, why, set...); err != nil {
		return err
	}
	if e.plan != nil {
		if moved.parent != r.parent {
			moved.above, moved.fault = moved.parent, faultNone
			if moved.isTop() {
				moved.above = Key{}
			}
		}
		e.plan.put(e.sibling(moved), moved)
	}
	return nil
}

// takeFreeName gives r, which may have been moved already, the first name from the number from on
// that nothing else has below its parent, and returns its number. Deleted rows count, since an
// index may cover them too.
//
// Numbers are remembered by what is left of the name before them: names that are alike up to there
// count on from each other, and do not each begin anew.
func (e *editor) takeFreeName(ctx context.Context, r *row, base string, from int) (int, error) {
	slot := e.sibling(r)
	for n := from; ; n++ {
		stem, suffix := stem(base, n, e.limits[e.table.Name])
		slot.name, slot.digits = stem, len(suffix)
		if n > 1 {
			n = max(n, e.known.numbers[slot])
		}
		r.name, r.nameless = numbered(base, n, e.limits[e.table.Name]), false
		taken, err := e.isTaken(ctx, r, "<>", false)
		if err != nil {
			return 0, err
		}
		if !taken {
			e.known.number(slot, n)
			return n, nil
		}
	}
}

// isTaken reports whether a sibling of r has the same name, by the database's notion of the same,
// and a key that compares with r's.
func (e *editor) isTaken(ctx context.Context, r *row, compares string, liveOnly bool) (bool, error) {
	if holder, ok := e.plan.holder(e.sibling(r)); ok && holder != r.key && (compares == "<>" || holder.Compare(r.key) < 0) {
		return true, nil
	}
	places, err := e.siblingConditions(ctx, r)
	if err != nil || len(places) == 0 {
		return false, err
	}
	cols := e.columnsAs("c")
	rest := fmt.Sprintf("%s = ? AND %s %s ?", cols.name, cols.key, compares)
	if liveOnly {
		rest += " AND " + cols.live
	}
	query, args := e.among(cols.key, places, rest, r.name, r.key.arg())
	// One row is enough. In a dry run, some of them would not have the name any more: seldom all of
	// the first.
	limits := []int{1}
	if e.plan != nil {
		limits = []int{64, math.MaxInt32}
	}
	taken := false
	for _, limit := range limits {
		read := 0
		err = e.each(ctx, fmt.Sprintf("%s LIMIT %d", query, limit), args, func(scan func(...any) error) error {
			var value any
			if err := scan(&value); err != nil {
				return fmt.Errorf("fsck: read %s: %w", e.table.Table, err)
			}
			key, err := e.readKey(e.table.Key, value)
			taken = taken || !e.plan.hasChanged(key)
			read++
			return err
		})
		if taken || err != nil || read < limit {
			break
		}
	}
	return taken, err
}
