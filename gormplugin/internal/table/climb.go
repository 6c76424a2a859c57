package table

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
)

// Climb returns, by plain reads, the live rows with the given ids and all live rows above them: as
// Retrace does or, if that does not lead to the top, by one recursive statement.
func (t *Table) Climb(db *gorm.DB, ids []any) (map[any]*Node, error) {
	if found, err := t.Retrace(db, ids, 2); found != nil || err != nil {
		return found, err
	}
	found := make(map[any]*Node, len(ids))
	for chunk := range slices.Chunk(ids, MaxPlaceholders) {
		nodes, err := t.Read(db, Selection{Where: t.Lineage(chunk)})
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			found[n.ID] = n
		}
	}
	t.ancestry.learn(found)
	// A row that is not among those found may be there by another spelling.
	unseen := slices.DeleteFunc(slices.Clone(ids), func(id any) bool { _, text := id.(string); return !text || found[id] != nil })
	_, err := t.ByID(db, unseen, "")
	return found, err
}

// Retrace reads, by primary keys, the rows with the given ids and those that were above them last
// time. If one has moved since, further tries read what is above that one now; rows of several
// tries were not there at one time. It returns nil if these do not lead to the top.
func (t *Table) Retrace(db *gorm.DB, ids []any, tries int) (map[any]*Node, error) {
	read := make(map[any]*Node, 2*len(ids))
	for next, _ := t.ancestry.lines(ids); len(next) > 0 && tries > 0; tries-- {
		rows, err := t.Read(db, Selection{Keys: next})
		if err != nil {
			return nil, err
		}
		for _, n := range rows {
			read[n.ID] = n
		}
		t.Learn(read)
		found, missing := chainsIn(read, ids)
		if len(missing) == 0 {
			return found, nil
		}
		next, _ = t.ancestry.lines(missing)
	}
	return nil, nil
}

// Learn notes what is above rows that were read.
func (t *Table) Learn(rows map[any]*Node) { t.ancestry.learn(rows) }

// chainsIn returns the rows with the ids and all above them, as far as they were read, and the ids
// of those on the way up that were not.
func chainsIn(read map[any]*Node, ids []any) (found map[any]*Node, missing []any) {
	found = make(map[any]*Node, len(read))
	for _, id := range ids {
		for id != nil && found[id] == nil {
			n := read[id]
			if n == nil {
				missing = append(missing, id)
				break
			}
			found[id], id = n, n.Parent
		}
	}
	return found, missing
}

// Lineage is the condition that a row has one of the ids, a list in parentheses, or lies above a
// row that has one.
func (t *Table) Lineage(ids any) clause.Expression {
	name := clause.Table{Name: t.TableName}
	key, parent := clause.Column{Name: t.Key.DBName}, clause.Column{Name: t.Parent.DBName}
	// UNION, unlike UNION ALL, ends even if rows are each other's parents.
	return clause.Expr{
		SQL:  "? IN (WITH RECURSIVE up (id, above) AS (SELECT ?, ? FROM ? WHERE ? IN ? UNION SELECT s.?, s.? FROM ? s JOIN up ON s.? = up.above) SELECT id FROM up)",
		Vars: []any{Column(t.Key), key, parent, name, key, ids, key, parent, name, key},
	}
}

// parentsOf returns the ids of the rows' parents, each once.
func parentsOf(rows map[any]*Node) []any {
	ids := make(map[any]bool, len(rows))
	for _, n := range rows {
		ids[n.Parent] = true
	}
	return slices.Collect(maps.Keys(ids))
}

// Rows returns the known rows, and the rows with the given ids that are missing among them. An id
// may be nil, for the parent of a row at the top. A plain read returns all rows above them, too.
func (t *Table) Rows(db *gorm.DB, known map[any]*Node, ids []any, lock string) (rows map[any]*Node, err error) {
	var missing []any
	for _, id := range ids {
		if id != nil && known[id] == nil && !slices.Contains(missing, id) {
			missing = append(missing, id)
		}
	}
	switch {
	case len(missing) == 0:
		rows = make(map[any]*Node, len(known))
	case lock != "":
		rows, err = t.ByID(db, missing, lock)
	default:
		if rows = t.ChainsIn(t.Recalled(db), missing); rows == nil {
			rows, err = t.Climb(db, missing)
		}
	}
	if err != nil {
		return nil, err
	}
	maps.Copy(rows, known)
	return rows, nil
}

// AtPaths returns the known rows, and reads the live rows at some paths that are missing among
// them; at has all of these by their places. A plain read returns all rows above them, too. With
// lock set, it reads the newest state, and nothing above, to say which rows to lock. But it looks
// for a root row by a plain read: a lock on a missing one would keep others from beginning their
// trees.
func (t *Table) AtPaths(db *gorm.DB, known map[any]*Node, paths []plan.Spot, lock string) (at map[plan.Spot]*Node, rows map[any]*Node, err error) {
	at, rows = make(map[plan.Spot]*Node), make(map[any]*Node)
	add := func(nodes ...*Node) {
		for _, n := range nodes {
			at[plan.Spot{Tree: n.Tree, Path: n.Path}], rows[n.ID] = n, n
		}
	}
	add(slices.Collect(maps.Values(known))...)
	var plain, newest []clause.Expression
	asked := make(map[plan.Spot]bool)
	for _, p := range paths {
		path, err := pathlock.ParsePath(p.Path)
		switch {
		case err != nil || at[p] != nil || asked[p]:
		case lock == "" || path.IsRoot():
			plain = append(plain, t.HasPath(p.Tree, path))
		default:
			newest = append(newest, t.HasPath(p.Tree, path))
		}
		asked[p] = true
	}
	const most = MaxPlaceholders / 8
	for some := range slices.Chunk(plain, most) {
		err = cmp.Or(err, t.OnPathIndex(db, func(from Hinted) error {
			found, err := t.Read(db, Selection{Where: t.Lineage(clause.Expr{SQL: "(SELECT ? FROM ? WHERE ?)", Vars: []any{Column(t.Key), from, t.Matching(AnyOf(some), false)}})})
			add(found...)
			return err
		}))
	}
	for some := range slices.Chunk(newest, most) {
		found, failed := t.ReadRanges(db, Selection{Where: AnyOf(some), Lock: t.Dialect.Newest})
		add(found...)
		err = cmp.Or(err, failed)
	}
	return at, rows, err
}

// maxAncestry is how many rows an ancestry knows at most, and how many names: some megabytes for a
// table, and enough for the rows that requests name again and again. Then it begins anew.
const maxAncestry = 1 << 14

// ancestry knows the parents that rows had when they were last read, and which rows had the values
// by which rows are looked up. It only suggests which rows to read together, since a read by
// primary keys costs the database a third of a recursive one.
type ancestry struct {
	mu     sync.Mutex
	parent map[any]any
	named  map[name]any
}

// name is the value of a column by which rows are looked up, in a tree unless the column tells rows
// of all trees apart.
type name struct {
	column string
	tree   pathlock.Tree
	value  any
}

// lines returns the ids, and those of all rows above them, unless these are not known.
func (a *ancestry) lines(ids []any) (all []any, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := make(map[any]bool, 2*len(ids))
	for _, id := range ids { // rows that were read at different times may be each other's parents
		for id != nil && !seen[id] {
			parent, known := a.parent[id]
			if !known {
				return nil, false
			}
			seen[id], all = true, append(all, id)
			id = parent
		}
	}
	return all, true
}

// above returns the ids of the rows above those with the names, unless they are not known.
func (a *ancestry) above(names []name) (ids []any, known bool) {
	known = true
	a.mu.Lock()
	for _, name := range names {
		parent, found := a.parent[a.named[name]]
		ids, known = append(ids, parent), known && found
	}
	a.mu.Unlock()
	if !known {
		return nil, false
	}
	return a.lines(ids)
}

// learn notes the parents of rows that were read.
func (a *ancestry) learn(rows map[any]*Node) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.parent == nil {
		a.parent = make(map[any]any)
	}
	for id, n := range rows {
		if len(a.parent) >= maxAncestry {
			clear(a.parent)
		}
		a.parent[id] = n.Parent
	}
}

// rename notes which rows were found by the names.
func (a *ancestry) rename(names []name, found map[any][]*Node) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.named == nil || len(a.named) >= maxAncestry {
		a.named = make(map[name]any)
	}
	for _, name := range names {
		if rows := found[name.value]; len(rows) > 0 {
			a.named[name] = rows[0].ID
		}
	}
}
