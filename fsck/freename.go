package fsck

import (
	"cmp"
	"slices"
)

// group is what siblings have in common. The parent is the zero Key at the top of the paths, where
// the rows without a parent are, and the children of a root row.
type group struct{ tree, parent Key }

// group returns the group of a seat.
func (f *forest) group(s *seat) group {
	if root := f.roots[s.tree]; s.isTop() || root != nil && s.parent == root.key {
		return group{tree: s.tree}
	}
	return group{s.tree, s.parent}
}

func (g group) compare(o group) int {
	return cmp.Or(g.tree.Compare(o.tree), g.parent.Compare(o.parent))
}

// namesIn returns the rows of a group by their names, with deleted rows, since an index may cover
// them.
func (p *plan) namesIn(g group) map[string][]*row {
	if names, ok := p.names[g]; ok {
		return names
	}
	// The index has rows that were moved where they were.
	was := func(r *row) group {
		if before, edited := p.edited[r]; edited {
			return before
		}
		return p.group(&r.seat)
	}
	if p.index == nil {
		p.index = slices.Concat(p.rows, p.deleted)
		slices.SortStableFunc(p.index, func(a, b *row) int { return was(a).compare(was(b)) })
	}
	names := make(map[string][]*row)
	i, _ := slices.BinarySearchFunc(p.index, g, func(r *row, g group) int { return was(r).compare(g) })
	for ; i < len(p.index) && was(p.index[i]) == g; i++ {
		r := p.index[i]
		names[r.name] = append(names[r.name], r)
	}
	p.names[g] = names
	return names
}

// settle adds an edit and gives its row the first free name there. From 1, the candidates are base,
// "base (2)", "base (3)", …; from 2, base itself is none.
func (p *plan) settle(e *edit, base string, from int) {
	r := e.row
	e.was, e.base = r.seat, base
	at := p.group(&r.seat)
	p.namesIn(at)
	if _, edited := p.edited[r]; !edited {
		p.edited[r] = at
	}
	p.edits = append(p.edits, e)
	delete(p.alike, r)
	if e.to.parent != e.was.parent {
		r.up, r.fault = e.up, faultNone
	}
	p.renumber(e, from)
}

// renumber gives the row of an edit the first free name, from a number on.
func (p *plan) renumber(e *edit, from int) {
	r, most := e.row, p.limits[p.table.Name]
	leaves := p.namesIn(p.group(&r.seat))
	leaves[r.name] = slices.DeleteFunc(leaves[r.name], func(other *row) bool { return other == r })
	names := p.namesIn(p.group(&e.to))
	for e.number = from; ; e.number++ {
		if e.to.name = numbered(e.base, e.number, most); len(names[e.to.name]) == 0 {
			break
		}
	}
	e.to.nullName = false
	r.seat = e.to
	names[r.name] = []*row{r}
}
