package table

import (
	"maps"
	"slices"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Climb returns, by plain reads, the live rows with the given ids and all live rows above them. It
// reads them by primary keys where it is known which rows these may be, and otherwise by one
// recursive read.
func (t *Table) Climb(db *gorm.DB, ids []any) (map[any]*Node, error) {
	if found, err := t.climbAgain(db, ids); err != nil || found != nil {
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
	// A row that is not among those found may be there by another spelling.
	unseen := slices.DeleteFunc(slices.Clone(ids), func(id any) bool { _, text := id.(string); return !text || found[id] != nil })
	if _, err := t.ByID(db, unseen, ""); err != nil {
		return nil, err
	}
	t.Ancestry.learn(found)
	return found, nil
}

// maxClimbs bounds how many reads by primary keys climb: the first one, and one for each row on the
// way that has been moved since.
const maxClimbs = 3

// climbAgain is [Table.Climb] by the parents that the rows had last time. Where a row has another
// parent by now, it continues with what was above that one. It returns nil where the parents do not
// lead all the way up, or where too many rows have moved.
func (t *Table) climbAgain(db *gorm.DB, ids []any) (map[any]*Node, error) {
	read, asked := make(map[any]*Node, 2*len(ids)), make(map[any]bool, 2*len(ids))
	next := ids
	for range maxClimbs {
		all := slices.DeleteFunc(t.Ancestry.above(next), func(id any) bool { return asked[id] })
		if len(all) == 0 || len(asked)+len(all) > MaxPlaceholders {
			return nil, nil
		}
		for _, id := range all {
			asked[id] = true
		}
		rows, err := t.ByID(db, all, "")
		if err != nil {
			return nil, err
		}
		maps.Copy(read, rows)
		found, unread := chainsOf(read, ids)
		if len(unread) == 0 {
			t.Ancestry.learn(found)
			return found, nil
		}
		if slices.ContainsFunc(unread, func(id any) bool { return asked[id] }) {
			return nil, nil // it is gone, though it is some row's parent
		}
		next = unread
	}
	return nil, nil
}

// chainsOf returns the rows with the ids and all rows above them, and the parents in these chains
// that were not read. A row with one of the ids that is not there has nothing above it.
func chainsOf(read map[any]*Node, ids []any) (found map[any]*Node, unread []any) {
	found = make(map[any]*Node, len(read))
	for _, id := range ids {
		for n := read[id]; n != nil && found[n.ID] == nil; n = read[n.Parent] {
			found[n.ID] = n
			if n.Parent != nil && read[n.Parent] == nil && !slices.Contains(unread, n.Parent) {
				unread = append(unread, n.Parent)
			}
		}
	}
	return found, unread
}

// Lineage is the condition that a row has one of the ids, a list in parentheses, or lies above a
// row that has one.
func (t *Table) Lineage(ids any) clause.Expression {
	name := clause.Table{Name: t.TableName}
	key, parent := clause.Column{Name: t.Key.DBName}, clause.Column{Name: t.Parent.DBName}
	// UNION, unlike UNION ALL, comes to an end where rows are each other's parents.
	return clause.Expr{
		SQL:  "? IN (WITH RECURSIVE up (id, above) AS (SELECT ?, ? FROM ? WHERE ? IN ? UNION SELECT s.?, s.? FROM ? s JOIN up ON s.? = up.above) SELECT id FROM up)",
		Vars: []any{Column(t.Key), key, parent, name, key, ids, key, parent, name, key},
	}
}

// ParentsOf returns the ids of the rows' parents, each once.
func ParentsOf(rows map[any]*Node) []any {
	ids := make(map[any]bool, len(rows))
	for _, n := range rows {
		ids[n.Parent] = true
	}
	return slices.Collect(maps.Keys(ids))
}

// RowsBeside returns the known rows and those with the given ids that are missing among them: see
// [Table.Rows]. An id may be nil, for the parent of a row at the top.
func (t *Table) RowsBeside(db *gorm.DB, known map[any]*Node, ids []any, lock string) (map[any]*Node, error) {
	missing := make(map[any]bool, len(ids))
	for _, id := range ids {
		if id != nil && known[id] == nil {
			missing[id] = true
		}
	}
	all, err := t.Rows(db, slices.Collect(maps.Keys(missing)), lock)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, known)
	return all, nil
}

// Rows returns the rows with the given ids. A plain read returns all rows above them, too.
func (t *Table) Rows(db *gorm.DB, ids []any, lock string) (map[any]*Node, error) {
	if len(ids) == 0 {
		return make(map[any]*Node), nil
	}
	if lock != "" {
		return t.ByID(db, ids, lock)
	}
	if known := t.ChainsIn(t.Recalled(db), ids); known != nil {
		return known, nil
	}
	return t.Climb(db, ids)
}

// maxAncestry is how many rows an ancestry knows at most.
const maxAncestry = 1 << 14

// ancestry knows the parents that rows had when they were last read. It only suggests which rows to
// read together, since a read by primary keys costs the database a third of a recursive one. Where
// it is wrong, a recursive read follows.
type ancestry struct {
	mu     sync.Mutex
	parent map[any]any
}

// above returns the ids, and those of all rows above them; nil if they are not known.
func (a *ancestry) above(ids []any) []any {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := make(map[any]bool, 2*len(ids))
	var all []any
	for _, id := range ids {
		for id != nil && !known[id] {
			parent, ok := a.parent[id]
			if !ok {
				return nil
			}
			known[id] = true
			all = append(all, id)
			id = parent
		}
	}
	return all
}

// learn notes the parents of rows.
func (a *ancestry) learn(rows map[any]*Node) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, n := range rows {
		if _, known := a.parent[id]; !known && len(a.parent) >= maxAncestry || a.parent == nil {
			a.parent = make(map[any]any, len(rows))
		}
		a.parent[id] = n.Parent
	}
}

// Moved notes the new parent of rows that an update has moved. It is only a hint, and does no harm
// where the transaction is rolled back.
func (a *ancestry) Moved(ids []any, parent any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		if _, known := a.parent[id]; known {
			a.parent[id] = parent
		}
	}
}
