package table

import (
	"sync"
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

// Moved notes the new parent of rows that an update has moved: no more than a hint, which is as
// good where the transaction is rolled back.
func (a *ancestry) Moved(ids []any, parent any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		if _, known := a.parent[id]; known {
			a.parent[id] = parent
		}
	}
}
