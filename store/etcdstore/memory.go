package etcdstore

import (
	"sync"

	"github.com/pathlock-go/pathlock"
)

// memory has what this process knows of the trees in which it has tickets: what it has read or
// written last. It saves a round trip wherever nobody else has written since.
type memory struct {
	mu    sync.Mutex
	trees map[pathlock.Tree]*reading
}

func newMemory() *memory { return &memory{trees: map[pathlock.Tree]*reading{}} }

// take takes out what is known of a tree, nil if nothing is. A tree whose guard has gone is not
// known: it may have been used and left empty meanwhile.
func (m *memory) take(tree pathlock.Tree) *reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.trees[tree]
	delete(m.trees, tree)
	if r == nil || r.guarded == 0 {
		return nil
	}
	r.remembered = true
	return r
}

func (m *memory) put(r *reading) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trees[r.tree] = r
}
