package fsck

import "slices"

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

// slot is a name in a group.
type slot struct {
	group
	name string
}

// slot returns the slot of a seat.
func (f *forest) slot(s *seat) slot { return slot{f.group(s), s.name} }

// settle adds an edit and gives its row the first free name there. From 1, the candidates are base,
// "base (2)", "base (3)", …; from 2, base itself is none.
func (p *plan) settle(e *edit, base string, from int) {
	r := e.row
	e.was, e.base = r.seat, base
	p.edited[r] = true
	p.edits = append(p.edits, e)
	delete(p.alike, r)
	if e.to.parent != e.was.parent {
		r.up, r.fault = e.up, faultNone
	}
	p.renumber(e, from)
}

// renumber gives the row of an edit the first free name, from a number on.
func (p *plan) renumber(e *edit, number int) {
	r, most, from := e.row, p.limits[p.table.Name], p.slot(&e.row.seat)
	p.named[from] = slices.DeleteFunc(p.named[from], func(other *row) bool { return other == r })
	for e.number = number; ; e.number++ {
		if e.to.name = numbered(e.base, e.number, most); len(p.named[p.slot(&e.to)]) == 0 {
			break
		}
	}
	e.to.nullName = false
	r.seat = e.to
	p.named[p.slot(&r.seat)] = []*row{r}
}
