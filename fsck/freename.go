package fsck

import (
	"context"
	"fmt"
	"math"
)

// renumberings is the most numbers that are tried, after which a refusal cannot be about the name.
const renumberings = 100

// settle makes r look like moved, with the first free name there. From 1, the candidates are base,
// "base (2)", "base (3)", …; from 2, base itself is none. A unique index over other columns, or
// with another collation, may refuse a name that looks free. settle then tries the next one.
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
			return skipError{fmt.Errorf("refused with %d names: %w", renumberings, refusal)}
		}
		from = n + 1
	}
}

// relocate makes r look like moved, a copy of r with another name, parent or tree.
func (e *editor) relocate(ctx context.Context, r, moved *row, why Kind) error {
	var set []assignment
	if moved.tree != r.tree {
		set = append(set, assignment{e.table.Tree, r.tree.value(), moved.tree.value()})
	}
	if moved.parent != r.parent {
		set = append(set, assignment{e.table.Parent, r.parent.value(), moved.parent.value()})
	}
	if moved.name != r.name || r.nullName && !moved.nullName {
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

// takeFreeName gives r the first name, from the number from on, that no sibling has, and returns
// its number. Deleted rows count, since an index may cover them, too.
//
// It remembers the last number of each stem. So shortened names with one stem do not each begin at
// 2.
func (e *editor) takeFreeName(ctx context.Context, r *row, base string, from int) (int, error) {
	slot := e.sibling(r)
	for n := from; ; n++ {
		stem, suffix := stemOf(base, n, e.limits[e.table.Name])
		slot.name, slot.digits = stem, len(suffix)
		if n > 1 {
			n = max(n, e.known.numbers[slot])
		}
		r.name, r.nullName = numbered(base, n, e.limits[e.table.Name]), false
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

// isTaken reports whether a sibling of r has a name that the database treats as equal, and a key
// that compares with r's by the operator compares.
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
	// One row is enough, unless a dry run has renamed it.
	limits := []int{1}
	if e.plan != nil {
		limits = []int{64, math.MaxInt32}
	}
	taken := false
	for _, limit := range limits {
		read := 0
		err = e.eachKey(ctx, fmt.Sprintf("%s LIMIT %d", query, limit), args, e.table.Key, func(key Key) {
			taken = taken || !e.plan.hasChanged(key)
			read++
		})
		if taken || err != nil || read < limit {
			break
		}
	}
	return taken, err
}
