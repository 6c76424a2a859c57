package write

import (
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
)

// removal is what a DELETE does to the tree.
type removal struct {
	hit targets
	// tops are the live rows that it hits, without those that lie below others of them.
	tops []departure
	// chains are the nodes above the tops. above has them, and what was read of the rows above
	// them.
	chains []*table.Node
	above  map[any]*table.Node
	claims hold.Claims
}

// departure is a row that is deleted with its subtree.
type departure struct {
	*table.Node
	at pathlock.Location
}

// surveyRemoval works out by plain reads what a DELETE does.
func (p *Planner) surveyRemoval(db *gorm.DB, t *table.Table, stmt *gorm.Statement) (*removal, error) {
	hit, known, err := p.survey(db, t, stmt)
	if err != nil {
		return nil, err
	}
	return p.removalOf(db, t, hit, known, "")
}

// lockedRemoval works out by locking reads what a DELETE does.
func (p *Planner) lockedRemoval(db *gorm.DB, t *table.Table, stmt *gorm.Statement) (*removal, error) {
	hit, err := p.targetsOf(db, t, stmt, nil, p.Dialect.Update)
	if err != nil {
		return nil, err
	}
	return p.removalOf(db, t, hit, nil, p.Dialect.Share)
}

// assertRemoval row-locks what a planned removal relies on and works it out again.
func (p *Planner) assertRemoval(db *gorm.DB, t *table.Table, stmt *gorm.Statement, planned *removal) (*removal, error) {
	locked, hit, err := p.lockPlanned(db, t, stmt, planned.chains, planned.above, planned.hit.ids())
	if err != nil {
		return nil, err
	}
	hit.remember(planned.hit)
	actual, err := p.removalOf(db, t, hit, locked, p.Dialect.Share)
	if err != nil {
		return nil, err
	}
	at := make(map[any]pathlock.Location, len(planned.tops))
	for _, n := range planned.tops {
		at[n.ID] = n.at
	}
	for _, n := range actual.tops {
		if at[n.ID] != n.at {
			return nil, &fault.PathChangedError{Table: t.TableName, ID: n.ID, Planned: at[n.ID].Path.Column(), Actual: n.Node.Path}
		}
	}
	return actual, checkLocked(t, actual.chains, locked)
}

// removalOf works out what the deletion of rows does. known are rows that need not be read again.
func (p *Planner) removalOf(db *gorm.DB, t *table.Table, hit targets, known map[any]*table.Node, share dialect.RowLock) (*removal, error) {
	if err := statement.ErrandOf(db).Missed(t, len(hit.live)); err != nil {
		return nil, err
	}
	var parents []any
	for _, n := range hit.live {
		if t.IsLeaf() || hit.live[n.Parent] == nil {
			parents = append(parents, n.Parent)
		}
	}
	above, err := t.Above.RowsBeside(db, known, parents, share)
	if err != nil {
		return nil, err
	}
	x := &removal{hit: hit, claims: make(hold.Claims), above: above}
	places := make(map[pathlock.Tree][]departure)
	for _, n := range hit.live {
		if t.IsLeaf() {
			parent := above[n.Parent]
			if parent == nil {
				// A leaf whose parent is deleted has no place to lock.
				x.tops = append(x.tops, departure{Node: n})
				continue
			}
			n.Tree = parent.Tree
			t.Follow(n, parent)
		}
		at, err := t.Location(n)
		if err != nil {
			return nil, err
		}
		places[at.Tree] = append(places[at.Tree], departure{n, at})
	}
	for _, tops := range places {
		x.keepTopmost(t, tops, above)
	}
	return x, nil
}

// keepTopmost enters the rows of one tree that do not lie below others.
func (x *removal) keepTopmost(t *table.Table, tops []departure, above map[any]*table.Node) {
	slices.SortFunc(tops, func(a, b departure) int { return a.at.Path.Compare(b.at.Path) })
	var last *departure
	for _, n := range tops {
		if last != nil && last.at.Path.Contains(n.at.Path) && !t.IsLeaf() && last.at.Path != n.at.Path {
			continue
		}
		last = &n
		x.tops = append(x.tops, n)
		x.claims.Add(n.at.Tree, n.at.Path)
		if parent := above[n.Parent]; parent != nil {
			x.chains = append(x.chains, parent)
		}
	}
}
