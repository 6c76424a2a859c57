package table

import "sync"

// maxAncestry is how many rows an ancestry knows at most: some megabytes for a table, and enough
// for the rows that requests name again and again. Then it begins anew.
const maxAncestry = 1 << 14

// ancestry knows the parents that rows had when they were last read. It only suggests which rows to
// read together, since a read by primary keys costs the database a third of a recursive one.
type ancestry struct {
	mu     sync.Mutex
	parent map[any]any
}

// lines returns the ids, and those of all rows above them; nil if these are not known.
func (a *ancestry) lines(ids []any) (all []any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := make(map[any]bool, 2*len(ids))
	for _, id := range ids {
		for id != nil && !seen[id] {
			parent, known := a.parent[id]
			if !known {
				return nil
			}
			seen[id], all = true, append(all, id)
			id = parent
		}
	}
	return all
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
