package zkstore

import (
	"maps"
	"sync"

	"github.com/pathlock-go/pathlock"
)

// rememberedTrees is of how many trees a process remembers the tickets.
const rememberedTrees = 1000

// memory has the tickets that were read last, so that only those that have changed are read again.
// A ticket's name and version say what its data is.
type memory struct {
	mu    sync.Mutex
	trees map[pathlock.Tree]map[string]entry // the inner maps do not change
}

func (m *memory) remembered(tree pathlock.Tree) map[string]entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.trees[tree]
}

func (m *memory) remember(tree pathlock.Tree, entries map[string]entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(entries) == 0 {
		delete(m.trees, tree)
		return
	}
	if m.trees == nil {
		m.trees = make(map[pathlock.Tree]map[string]entry)
	}
	for other := range m.trees { // any of them
		if len(m.trees) < rememberedTrees {
			break
		}
		delete(m.trees, other)
	}
	m.trees[tree] = maps.Clone(entries)
}
