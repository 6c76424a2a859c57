package gormplugintest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"pgregory.net/rapid"
)

// errNoRow says that an error does not name the row that it is about.
var errNoRow = errors.New("the error names no row")

// arranged gives up to eight rows of one tree other parents at once, in any order, and all of them
// another note. The parents are drawn, or those that the rows have, in another order: then rows
// come to where others leave, at times in a circle.
func (m *machine) arranged() statement {
	x, g := m.table, m.clone()
	live := m.live()
	ids := rapid.SliceOfNDistinct(rapid.SampledFrom(live), 1, min(8, len(live)), rapid.ID).Draw(m.T, "rows")
	if tree := m.rows[ids[0]].tree; !m.rarely(8, "of several trees") {
		for i := len(ids) - 1; i >= 0; i-- {
			if m.rows[ids[i]].tree != tree {
				ids = append(ids[:i], ids[i+1:]...)
			}
		}
	}
	s := statement{what: fmt.Sprintf("arrange %v below", m.paths(ids))}
	if dead := m.dead(); len(dead) > 0 && m.rarely(12, "a deleted one") {
		ids = append(ids, pick(m, dead, "deleted"))
		s.reasons = append(s.reasons, pathlock.ErrNotFound)
	}
	if m.rarely(20, "twice") {
		ids = append(ids, ids[0])
		s.reasons = append(s.reasons, gormplugin.ErrMisplaced)
	}
	before, swaps, columns := rapid.Permutation(ids).Draw(m.T, "parents of"), rapid.Bool().Draw(m.T, "swaps"), []string(nil)
	if x.note != "" && rapid.Bool().Draw(m.T, "with notes") {
		columns = append(columns, x.note)
	}
	var rows []any
	var changed []int
	for i, id := range ids {
		n, was := g.rows[id], m.rows[id]
		switch {
		case swaps:
			n.parent = m.rows[before[i]].parent
		case !m.rarely(3, "stays"):
			n.parent = m.parentOf()
		}
		values := map[string]any{"id": m.spelled(m.keys[id])}
		if n.parent != 0 {
			values[x.parent] = m.spelled(m.keys[n.parent])
		}
		if m.rarely(3, "states its tree") {
			stated := n.tree
			if len(m.trees) > 1 && m.rarely(6, "a wrong one") {
				stated = 1 - stated
				s.reasons = append(s.reasons, gormplugin.ErrMisplaced)
			}
			x.putIn(values, m.trees[stated])
		}
		if len(columns) > 0 {
			n.note = fmt.Sprint("arranged ", i)
			values[x.note] = n.note
		}
		s.what += fmt.Sprintf(" %v", m.paths([]int{n.parent}))
		rows, g.rows[id] = append(rows, x.row(values)), n
		if was.tree != m.rows[ids[0]].tree {
			s.reasons = append(s.reasons, gormplugin.ErrMisplaced)
		}
		if m.moved(n, was) && !n.dead {
			changed = append(changed, id)
			if m.isRoot(id) {
				s.reasons = append(s.reasons, gormplugin.ErrMisplaced)
			}
		}
	}
	if s = m.placed(g, changed, s); slices.Contains(s.reasons, gormplugin.ErrMisplaced) {
		s.reasons = append(s.reasons, gormplugin.ErrNameTaken) // of one below a row that cannot go there
	}
	s.run = func(db *gorm.DB) error {
		err := gormplugin.Arrange(db, x.slice(rows), columns...)
		if _, named := errors.AsType[*gormplugin.RowError](err); !named && matches(err, []error{pathlock.ErrNotFound, gormplugin.ErrWouldCycle, gormplugin.ErrMisplaced, gormplugin.ErrNameTaken}) {
			return fmt.Errorf("%w: %w", errNoRow, err)
		}
		return err
	}
	s.told = func(f forest) {
		for i, id := range ids {
			m.toldPath(f, id, rows[i])
		}
	}
	return s
}
