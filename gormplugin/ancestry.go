package gormplugin

import (
	"sync"

	"gorm.io/gorm"
)

// maxAncestry is how many rows an ancestry knows at most.
const maxAncestry = 1 << 14

// ancestry knows the parents that rows had when they were last read. It says which rows to read together, and nothing about
// where any of them is: a read by primary keys costs the database a third of a recursive one. Where it is
// wrong, the recursive one follows.
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
	if a.parent == nil || len(a.parent)+len(rows) > maxAncestry {
		a.parent = make(map[any]any, len(rows))
	}
	for id, n := range rows {
		a.parent[id] = n.parent
	}
}

// climbAgain is [table.climb] by the parents that the rows had last time; nil if these are not known, or not theirs any more.
func (t *table) climbAgain(db *gorm.DB, ids []any) (map[any]*node, error) {
	all := t.ancestry.above(ids)
	if len(all) == 0 || len(all) > maxPlaceholders {
		return nil, nil
	}
	read, err := t.byID(db, all, "")
	if err != nil {
		return nil, err
	}
	found := make(map[any]*node, len(read))
	for _, id := range ids {
		// A row that is not there now has nothing above it.
		for n := read[id]; n != nil && found[n.id] == nil; n = read[n.parent] {
			found[n.id] = n
			if n.parent != nil && read[n.parent] == nil {
				return nil, nil
			}
		}
	}
	return found, nil
}
