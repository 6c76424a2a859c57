package write

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/shown"
	"gorm.io/gorm"
)

// relocation is what an update does to the tree: which rows it hits, and which of them go where.
type relocation struct {
	table      *table.Table
	assignment *assignment
	hit        targets
	moves      []move
	// landings are the rows that come to the top of their trees.
	landings Landings
	// claims are the old places and the new slots.
	claims hold.Claims
	// chains are the nodes above the old places and the new ones, which must stay where they are,
	// and above is what was read of the rows above them.
	chains []*table.Node
	above  map[any]*table.Node
}

// move is a row that gets another path, and its subtree with it.
type move struct {
	*table.Node
	from, to pathlock.Location
	// path and ids are the new path columns; node has the old ones.
	path, ids string
	// restored is set for a row that was deleted before: it had no place.
	restored bool
}

// relocationBy works out what an assignment does to the rows that it hits. known
// are rows of the table above that need not be read again.
func (p *Planner) relocationBy(db *gorm.DB, t *table.Table, a *assignment, hit targets, known map[any]*table.Node, lock dialect.RowLock) (*relocation, error) {
	if a.removes && len(hit.live) > 0 {
		return nil, t.Unsupported("rows are deleted by Delete, not by setting the deletion mark")
	}
	if a.key != nil && !t.IsLeaf() {
		for _, id := range hit.ids() {
			if id != a.key {
				return nil, t.Unsupported("the primary key of %s cannot change: the rows below would lose their parent", shown.ID(id))
			}
		}
	}
	if err := statement.ErrandOf(db).Missed(t, len(hit.live)); err != nil {
		return nil, err
	}
	x := &relocation{table: t, assignment: a, hit: hit, claims: make(hold.Claims), landings: make(Landings)}
	if err := x.checkMixed(); err != nil {
		return nil, err
	}
	affected := make(map[any]*table.Node, len(hit.live))
	for id, n := range hit.live {
		affected[id] = n
	}
	if a.restores {
		for id, n := range hit.dead {
			affected[id] = n
		}
	}
	above, err := p.aboveTargets(db, t, a, affected, known, lock)
	if err != nil {
		return nil, err
	}
	x.above = above
	for _, n := range affected {
		if err := x.consider(a, n, affected, above); err != nil {
			return nil, err
		}
	}
	x.carry()
	return x, nil
}

// carry has rows that move within the subtree of another one that moves go along with it: what lies
// between the two does not move by itself, so that the paths of the lower ones were worked out from
// where it is now.
func (x *relocation) carry() {
	if x.table.IsLeaf() || len(x.moves) < 2 {
		return
	}
	slices.SortFunc(x.moves, func(a, b move) int { return cmp.Compare(len(a.Node.Path), len(b.Node.Path)) })
	type place struct {
		tree any
		path string
	}
	moved := make(map[place]move, len(x.moves))
	for i := range x.moves {
		m := &x.moves[i]
		for end := strings.LastIndexByte(m.path, '/'); end > 0; end = strings.LastIndexByte(m.path[:end], '/') {
			upper, ok := moved[place{m.Node.Tree, m.path[:end]}]
			if !ok {
				continue
			}
			m.path = upper.path + m.path[end:]
			if x.table.IDs != nil {
				m.ids = upper.ids + m.ids[len(upper.Node.IDs):]
			}
			break
		}
		if !m.restored {
			moved[place{m.Node.Tree, m.Node.Path}] = *m
		}
	}
}

// aboveTargets returns the rows that affected ones hang below now and
// those that they are going to, by id.
func (p *Planner) aboveTargets(db *gorm.DB, t *table.Table, a *assignment, affected, known map[any]*table.Node, lock dialect.RowLock) (map[any]*table.Node, error) {
	// What is above them all is known as well, and says later whom to lock.
	above := maps.Clone(known)
	if above == nil {
		above = make(map[any]*table.Node)
	}
	missing := make(map[any]bool)
	need := func(id any) {
		switch {
		case id == nil || above[id] != nil:
		case affected[id] != nil && !t.IsLeaf():
			above[id] = affected[id]
		default:
			missing[id] = true
		}
	}
	for _, n := range affected {
		need(n.Parent)
		need(a.parentOf(n))
	}
	found, err := t.Above.Rows(db, slices.Collect(maps.Keys(missing)), lock)
	for id, n := range found {
		if above[id] == nil {
			above[id] = n
		}
	}
	return above, err
}

// differs compares a turn with the one that the locking reads led to. The locks are right only if
// every place is the same, and every node above them was locked.
func (x *relocation) differs(actual *relocation, locked map[any]*table.Node) error {
	planned := make(map[any]move, len(x.moves))
	for _, m := range x.moves {
		planned[m.ID] = m
	}
	for _, m := range actual.moves {
		before, ok := planned[m.ID]
		if !ok || before.from != m.from || before.to != m.to {
			return &fault.PathChangedError{Table: x.table.TableName, ID: m.ID, Planned: before.from.Path.Column(), Actual: m.Node.Path}
		}
	}
	for _, n := range actual.chains {
		if locked[n.ID] == nil {
			return &fault.PathChangedError{Table: x.table.Above.TableName, ID: n.ID, Actual: n.Path}
		}
	}
	return nil
}

// hasVersion reports whether all rows that the update hits have a version, as far as one is
// assigned.
func (x *relocation) hasVersion(version any) bool {
	for _, n := range x.hit.live {
		if version != n.Version {
			return false
		}
	}
	return true
}
