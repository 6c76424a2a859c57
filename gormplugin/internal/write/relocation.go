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
	assignment *assignment
}

// relocationBy works out what an assignment does to the rows that it hits. known are rows of the
// table above that need not be read again.
func (e *Engine) relocationBy(db *gorm.DB, t *table.Table, a *assignment, hit plan.Hits, known map[any]*table.Node, lock string) (*relocation, error) {
	if err := cmp.Or(t.CheckChange(&a.Change, hit), operationOf(db).missed(t, len(hit.Live))); err != nil {
		return nil, err
	}
	affected := a.Affected(hit)
	var ids []any
	for _, n := range affected {
		ids = append(ids, n.Parent, a.ParentOf(n))
	}
	if !t.IsLeaf() {
		all := maps.Clone(affected)
		maps.Copy(all, known)
		known = all
	}
	parents, err := t.Above.Rows(db, known, ids, lock)
	if err != nil {
		return nil, err
	}
	x, err := t.Update(&a.Change, hit, parents)
	return &relocation{x, a}, err
}

// hasVersion reports whether all rows that the update hits have a version, as far as one is
// assigned.
func (x *relocation) hasVersion(version any) bool {
	for _, n := range x.Live {
		if version != n.Version {
			return false
		}
	}
	return true
}

// hasOutdatedPath reports whether the update states a path that a row does not have.
func (x *relocation) hasOutdatedPath(t *table.Table) bool {
	for _, n := range x.Live {
		if !t.AsStated(n, x.assignment.Path, x.assignment.IDs) {
			return true
		}
	}
	return false
}
