package contender

import (
	"context"
	"sync"

	"github.com/pathlock-go/pathlock"
)

// rwNodes is what one writes without a package: a sync.RWMutex for each node, which exists only
// while somebody uses it. It read-locks the nodes above the leaf, and write-locks the leaf. It has
// no lease, no owner, and no order of arrival over the whole path.
func rwNodes() Contender {
	return Contender{
		Name: RWNodes, Excludes: true, Shares: true,
		What: "sync.RWMutex per node in a map with reference counts: RLock above the leaf, Lock at it",
		Open: func(context.Context, Server) (Locks, error) {
			return &rwLocks{nodes: make(map[rwName]*rwNode)}, nil
		},
	}
}

// rwFixed is the floor: rwNodes with nodes that exist from the start, so that it looks up and
// creates nothing.
func rwFixed() Contender {
	return Contender{
		Name: RWFixed, Excludes: true, Shares: true,
		What: "sync.RWMutex per node, all there for good and at hand: RLock above the leaf, Lock at it",
		Open: func(context.Context, Server) (Locks, error) {
			return &rwLocks{nodes: make(map[rwName]*rwNode), fixed: true}, nil
		},
	}
}

// rwName is a node of one of the trees.
type rwName struct {
	tree string
	path pathlock.Path
}

type rwNode struct {
	sync.RWMutex
	// users counts those that have the node or are about to. The mutex of rwLocks guards it.
	users int
}

type rwLocks struct {
	fixed bool
	mu    sync.Mutex
	nodes map[rwName]*rwNode
}

func (l *rwLocks) Close() error { return nil }

func (l *rwLocks) Lock(tree string, leaf pathlock.Path) (Lock, error) {
	var names []rwName
	for a := range leaf.Ancestors() {
		names = append(names, rwName{tree, a})
	}
	lock := &rwLock{locks: l, names: append(names, rwName{tree, leaf})}
	if l.fixed {
		lock.nodes = l.use(lock.names, nil)
	}
	return lock, nil
}

// use appends the nodes with the names to a list, and creates those that do not exist.
func (l *rwLocks) use(names []rwName, nodes []*rwNode) []*rwNode {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		node := l.nodes[name]
		if node == nil {
			node = new(rwNode)
			l.nodes[name] = node
		}
		node.users++
		nodes = append(nodes, node)
	}
	return nodes
}

// unuse forgets the nodes that nobody uses any more.
func (l *rwLocks) unuse(names []rwName, nodes []*rwNode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, node := range nodes {
		if node.users--; node.users == 0 {
			delete(l.nodes, names[i])
		}
	}
}

type rwLock struct {
	locks *rwLocks
	// names and nodes go from the root to the leaf.
	names []rwName
	nodes []*rwNode
}

func (l *rwLock) Acquire(context.Context) error {
	if !l.locks.fixed {
		l.nodes = l.locks.use(l.names, l.nodes[:0])
	}
	last := len(l.nodes) - 1
	for i, node := range l.nodes[:last] {
		if !node.TryRLock() {
			l.giveUp(i)
			return ErrHeld
		}
	}
	if !l.nodes[last].TryLock() {
		l.giveUp(last)
		return ErrHeld
	}
	return nil
}

// giveUp unlocks the first n nodes, which are read-locked.
func (l *rwLock) giveUp(n int) {
	for _, node := range l.nodes[:n] {
		node.RUnlock()
	}
	if !l.locks.fixed {
		l.locks.unuse(l.names, l.nodes)
	}
}

func (l *rwLock) Release(context.Context) error {
	last := len(l.nodes) - 1
	l.nodes[last].Unlock()
	l.giveUp(last)
	return nil
}
