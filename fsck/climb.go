package fsck

import (
	"context"

	"github.com/pathlock-go/pathlock"
)

// climber finds the places of rows by following their parents to the top. It uses names and parents
// alone, never stored paths. So the order in which rows are read or repaired does not matter.
//
// One statement reads the parents of a whole page, the next one the parents of those. It takes as
// many statements as the tree is deep, but mostly one or two, since a memo has the rows met before.
type climber struct {
	*session
	memo *memo
}

func newClimber(s *session) *climber {
	return &climber{session: s, memo: &memo{young: make(map[Key]place)}}
}

// places returns the place of each row.
func (c *climber) places(ctx context.Context, rows []*row) ([]place, error) {
	w := walk{climber: c, met: make(map[Key]*row, len(rows)), known: make(map[Key]place, len(rows))}
	for _, r := range rows {
		w.met[r.key] = r
	}
	if err := w.gather(ctx, rows); err != nil {
		return nil, err
	}
	places := make([]place, len(rows))
	for i, r := range rows {
		p, err := w.place(ctx, r)
		if err != nil {
			return nil, err
		}
		places[i] = p
	}
	return places, nil
}

// walk is the climb from one page of rows.
type walk struct {
	*climber
	met   map[Key]*row
	known map[Key]place
}

// gather reads the rows above, level by level, up to the longest path that there can be.
func (w *walk) gather(ctx context.Context, frontier []*row) error {
	for range pathlock.MaxDepth + 2 {
		var missing []Key
		asked := make(map[Key]bool)
		for _, r := range frontier {
			k := r.above
			if k.IsZero() || asked[k] || w.met[k] != nil {
				continue
			}
			if p, ok := w.memo.get(k); ok {
				w.known[k] = p
				continue
			}
			asked[k] = true
			missing = append(missing, k)
		}
		if len(missing) == 0 {
			return nil
		}
		var err error
		if frontier, err = w.byKeys(ctx, missing, false); err != nil {
			return err
		}
		for _, r := range frontier {
			w.met[r.key] = r
		}
	}
	return nil
}

// place follows the parents of r through the rows that gather has read.
func (w *walk) place(ctx context.Context, r *row) (place, error) {
	var way []*row
	on := make(map[Key]int)
	var base place
	for at := r; ; {
		if p, ok := w.known[at.key]; ok {
			base = p
			break
		}
		if i, ok := on[at.key]; ok {
			base = place{state: cyclic, cycle: cycleOf(way[i:])}
			break
		}
		if p, ends := at.terminalPlace(); ends {
			base = w.remember(at, p)
			break
		}
		on[at.key] = len(way)
		way = append(way, at)
		if p, ok := w.known[at.above]; ok {
			base = p
			break
		}
		next := w.met[at.above]
		if next == nil {
			p, err := w.longClimb(ctx, at.above)
			if err != nil {
				return place{}, err
			}
			base = p
			break
		}
		at = next
	}
	for i := len(way) - 1; i >= 0; i-- {
		base = w.remember(way[i], base.childPlace(way[i]))
	}
	return base, nil
}

// remember notes a place, for this walk and in the memo.
func (w *walk) remember(r *row, p place) place {
	w.known[r.key] = p
	w.memo.put(r.key, p)
	return p
}

// terminalPlace returns the place of a row at which a climb ends; false if the row has a parent.
func (r *row) terminalPlace() (place, bool) {
	switch {
	case r.fault != faultNone:
		return place{state: detached, tree: r.tree}, true
	case r.isRoot():
		return place{tree: r.tree, idPath: "/" + r.key.String()}, true
	case r.isTop():
		return place{}.childPlace(r), true
	default:
		return place{}, false
	}
}

// childPlace returns the place of a row whose parent's place is p.
func (p place) childPlace(r *row) place {
	if r.hasTree() {
		p.tree = r.tree
	}
	switch {
	case p.state != placed:
		return p
	case r.checkName() != nil:
		return place{state: detached, tree: p.tree}
	case p.depth >= pathlock.MaxDepth:
		return place{state: tooDeep, tree: p.tree}
	default:
		return place{tree: p.tree, depth: p.depth + 1, path: p.path + "/" + r.name, idPath: p.idPath + "/" + r.key.String()}
	}
}
