package write

import (
	"cmp"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
)

// What an UPDATE or a DELETE does to the tree is worked out here from the rows that it hits, and
// from those above: first by plain reads, then by locking ones.

// surveyEffect works out by plain reads what a change does to the rows that stmt hits.
func (s *statement) surveyEffect(c *plan.Change, stmt *gorm.Statement) (*plan.Effect, error) {
	parents := slices.Collect(maps.Values(c.Parents))
	if c.Parent != nil {
		parents = append(parents, *c.Parent)
	}
	hit, known, err := s.survey(stmt, parents)
	if err != nil {
		return nil, err
	}
	x, err := s.effectOf(c, hit, known, "")
	if hit.Recalled && (err != nil || x.StaysPut()) {
		// Nothing will be asserted, and the rows may be elsewhere by now.
		return s.surveyEffect(c, stmt)
	}
	return x, err
}

// effectOf works out what a change does to the rows that it hits. known are rows of the table above
// that need not be read again; the others are read with a lock.
func (s *statement) effectOf(c *plan.Change, hit plan.Hits, known map[any]*table.Node, lock string) (*plan.Effect, error) {
	t := s.Table
	if err := cmp.Or(s.op.missed(t, len(hit.Live)), s.nodes.check(t, hit), t.CheckChange(c, hit)); err != nil {
		return nil, err
	}
	affected := c.Affected(hit)
	var ids []any
	for _, n := range affected {
		ids = append(ids, n.Parent, c.ParentOf(n))
	}
	if !t.IsLeaf {
		maps.Copy(affected, known)
		known = affected
	}
	parents, err := t.Above.Rows(s.DB, known, ids, lock)
	if err != nil {
		return nil, err
	}
	if goal, ok, err := t.Goal(c, hit, parents); err != nil {
		return nil, err
	} else if ok {
		if c, parents, err = s.placed(c, goal, parents, lock); err != nil {
			return nil, err
		}
	}
	x, err := t.Update(c, hit, parents)
	if err == nil {
		err = s.nodes.hold(t, x)
	}
	return x, err
}

// placed looks up the parent that a change states by its goal. It returns the change with that
// parent's key, and the rows above with that parent.
func (s *statement) placed(c *plan.Change, goal plan.Spot, above map[any]*table.Node, lock string) (*plan.Change, map[any]*table.Node, error) {
	t := s.Table
	if err := t.IsWritable(t.Parent); err != nil {
		return nil, nil, err
	}
	at, above, err := t.Above.AtPaths(s.DB, above, []plan.Spot{goal}, lock)
	if err != nil {
		return nil, nil, err
	}
	reached, err := t.Reach(*c, at[goal])
	return &reached, above, err
}
