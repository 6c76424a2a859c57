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
	"gorm.io/gorm/schema"
)

// relocation is what an update does to the tree: which rows it hits, and which of them move where.
type relocation struct {
	table      *table.Table
	assignment *assignment
	hit        targets
	moves      []move
	// landings are the rows that come to the top of their trees.
	landings Landings
	// claims are the old places and the new slots.
	claims hold.Claims
	// chains are the nodes above the old places and the new ones, which must stay where they are.
	// above has them, and what was read of the rows above them.
	chains []*table.Node
	above  map[any]*table.Node
}

// move is a row that gets another path, and its subtree with it.
type move struct {
	*table.Node
	from, to pathlock.Location
	// path and ids are the new path columns; Node has the old ones.
	path, ids string
	// restored is set for a row that was deleted before: it had no place.
	restored bool
}

// carries reports whether the rows below get new paths.
func (m move) carries() bool { return !m.restored && (m.Node.Path != m.path || m.Node.IDs != m.ids) }

// relocationBy works out what an assignment does to the rows that it hits. known are rows of the
// table above that need not be read again.
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
	affected := maps.Clone(hit.live)
	if a.restores {
		maps.Copy(affected, hit.dead)
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

// carry corrects the new paths of rows that move within the subtree of another moving row. These
// were worked out from the present paths of the rows in between, which move along with the upper
// one.
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

// aboveTargets returns, by id, the rows above affected ones, before the update and after it. With
// them come all known rows, which later suggest what to lock.
func (p *Planner) aboveTargets(db *gorm.DB, t *table.Table, a *assignment, affected, known map[any]*table.Node, lock dialect.RowLock) (map[any]*table.Node, error) {
	var ids []any
	for _, n := range affected {
		ids = append(ids, n.Parent, a.parentOf(n))
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

// differs compares a relocation with the one that the locking reads led to. The locks are right
// only if every place is the same, and every node above was locked.
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
	return checkLocked(x.table, actual.chains, locked)
}

// checkLocked returns an error if a row above some rows of t was not locked: they are below other
// rows than planned.
func checkLocked(t *table.Table, above []*table.Node, locked map[any]*table.Node) error {
	for _, n := range above {
		if locked[n.ID] == nil {
			return &fault.PathChangedError{Table: t.Above.TableName, ID: n.ID, Actual: n.Path}
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

// hasOutdatedPath reports whether the update states a path that a row does not have.
func (x *relocation) hasOutdatedPath() bool {
	for _, n := range x.hit.live {
		if x.assignment.path != "" && x.assignment.path != n.Path || x.assignment.ids != "" && x.assignment.ids != n.IDs {
			return true
		}
	}
	return false
}

// isDead reports whether an update hits only softly deleted rows, and restores none of them. These
// are not part of the tree: the caller may write their place.
func (x *relocation) isDead() bool {
	return len(x.hit.live) == 0 && len(x.hit.dead) > 0 && !x.assignment.restores
}

// checkMixed refuses an update that states the tree or a path of deleted rows and of live ones at
// once. The caller decides on the former, the plugin on the latter.
func (x *relocation) checkMixed() error {
	if len(x.hit.live) == 0 || len(x.hit.dead) == 0 || x.assignment.restores {
		return nil
	}
	t := x.table
	for _, f := range []*schema.Field{t.Tree, t.Path, t.IDs, t.Fence} {
		if f != nil && x.assignment.states(f) {
			return t.Unsupported("%q of deleted rows cannot be set together with that of live ones: use two updates", f.DBName)
		}
	}
	return nil
}
