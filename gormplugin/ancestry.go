package gormplugin

import (
	"maps"
	"slices"
	"sync"

	"gorm.io/gorm"
)

// maxAncestry is how many rows an ancestry knows at most.
const maxAncestry = 1 << 14

// ancestry knows the parents that rows had when they were last read. It says which rows to read
// together, and nothing about where any of them is: a read by primary keys costs the database a
// third of a recursive one. Where it is wrong, the recursive one follows.
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
func (a *ancestry) learn(rows map[any]*node) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, n := range rows {
		if _, known := a.parent[id]; !known && len(a.parent) >= maxAncestry || a.parent == nil {
			a.parent = make(map[any]any, len(rows))
		}
		a.parent[id] = n.parent
	}
}

// follow notes the new parents of rows that an update has moved: no more than a hint, which is as
// good where the transaction is rolled back.
func (a *ancestry) follow(x *turn) {
	if x.assignment.parent == nil || x.table.isLeaf() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range x.moves {
		if _, known := a.parent[m.id]; known {
			a.parent[m.id] = *x.assignment.parent
		}
	}
}

// maxClimbs is how many reads by primary keys climb at most: the first one, and one for each row on
// the way that has been moved since.
const maxClimbs = 3

// climbAgain is [table.climb] by the parents that the rows had last time. Where a row has another
// one by now, it goes on with what was above that. It returns nil where the parents do not lead all
// the way up, or where too many rows have moved.
func (t *table) climbAgain(db *gorm.DB, ids []any) (map[any]*node, error) {
	read, asked := make(map[any]*node, 2*len(ids)), make(map[any]bool, 2*len(ids))
	next := ids
	for range maxClimbs {
		all := slices.DeleteFunc(t.ancestry.above(next), func(id any) bool { return asked[id] })
		if len(all) == 0 || len(asked)+len(all) > maxPlaceholders {
			return nil, nil
		}
		for _, id := range all {
			asked[id] = true
		}
		rows, err := t.byID(db, all, "")
		if err != nil {
			return nil, err
		}
		maps.Copy(read, rows)
		found, unread := chainsOf(read, ids)
		if len(unread) == 0 {
			t.ancestry.learn(found)
			return found, nil
		}
		if slices.ContainsFunc(unread, func(id any) bool { return asked[id] }) {
			return nil, nil // it is not there, though a row has it for its parent
		}
		next = unread
	}
	return nil, nil
}

// chainsOf returns the rows with the ids and all rows above them, and the parents in these chains
// that were not read. A row with one of the ids that is not there has nothing above it.
func chainsOf(read map[any]*node, ids []any) (found map[any]*node, unread []any) {
	found = make(map[any]*node, len(read))
	for _, id := range ids {
		for n := read[id]; n != nil && found[n.id] == nil; n = read[n.parent] {
			found[n.id] = n
			if n.parent != nil && read[n.parent] == nil && !slices.Contains(unread, n.parent) {
				unread = append(unread, n.parent)
			}
		}
	}
	return found, unread
}
