package quorum

import (
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

const (
	// contendedFor is for how long a tree counts as contended after somebody had to wait.
	contendedFor = time.Second
	// mostContended is how many trees are remembered.
	mostContended = 1024
)

// contended has the trees in which somebody had to wait lately, until when they count as that.
type contended struct {
	mu    sync.Mutex
	trees map[pathlock.Tree]time.Time
}

func (c *contended) add(tree pathlock.Tree) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trees == nil || len(c.trees) >= mostContended {
		c.trees = make(map[pathlock.Tree]time.Time)
	}
	c.trees[tree] = time.Now().Add(contendedFor)
}

func (c *contended) has(tree pathlock.Tree) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ok := c.trees[tree]
	if ok && !time.Now().Before(until) {
		delete(c.trees, tree)
		return false
	}
	return ok
}
