package write

import (
	"cmp"
	"maps"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
)

// relocation is what an UPDATE does to the tree.
type relocation struct {
	*plan.Relocation
	basis
	table      *table.Table
	assignment *assignment
}

// madeOn implements [targeting].
func (x *relocation) madeOn() (basis, []*table.Node) { return x.basis, x.Chains }

// differs implements [targeting].
func (x *relocation) differs(actual *relocation, locked map[any]*table.Node) error {
	return x.Differs(actual.Relocation, locked)
}

// relocationBy works out what an assignment does to the rows that it hits. known are rows of the
// table above that need not be read again.
func (e *Engine) relocationBy(db *gorm.DB, t *table.Table, a *assignment, hit targets, known map[any]*table.Node, lock string) (*relocation, error) {
	x := &relocation{basis: basis{hit: hit}, table: t, assignment: a}
	if err := cmp.Or(t.CheckChange(&a.Change, hit.Hits), operationOf(db).missed(t, len(hit.Live))); err != nil {
		return nil, err
	}
	var err error
	if x.above, err = aboveTargets(db, t, a, known, hit, lock); err == nil {
		x.Relocation, err = t.Update(&a.Change, hit.Hits, x.above)
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// aboveTargets returns, by id, the rows above those that an assignment affects, before the update
// and after it. With them come all known rows, which later suggest what to lock.
func aboveTargets(db *gorm.DB, t *table.Table, a *assignment, known map[any]*table.Node, hit targets, lock string) (map[any]*table.Node, error) {
	affected := a.Affected(hit.Hits)
	var ids []any
	for _, n := range affected {
		ids = append(ids, n.Parent, a.ParentOf(n))
	}
	if !t.IsLeaf() {
		known = maps.Clone(known)
		if known == nil {
			known = make(map[any]*table.Node)
		}
		for _, id := range ids {
			if n := affected[id]; n != nil && known[id] == nil {
				known[id] = n
			}
		}
	}
	return t.Above.RowsBeside(db, known, ids, lock)
}

// hasVersion reports whether all rows that the update hits have a version, as far as one is
// assigned.
func (x *relocation) hasVersion(version any) bool {
	for _, n := range x.hit.Live {
		if version != n.Version {
			return false
		}
	}
	return true
}

// hasOutdatedPath reports whether the update states a path that a row does not have.
func (x *relocation) hasOutdatedPath() bool {
	for _, n := range x.hit.Live {
		if x.assignment.Path != "" && x.assignment.Path != n.Path || x.assignment.IDs != "" && x.assignment.IDs != n.IDs {
			return true
		}
	}
	return false
}
