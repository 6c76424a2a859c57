package sqlstore

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// maxCached is how many tickets of how many trees a process remembers.
const (
	maxCachedTickets = 20_000
	maxCachedTrees   = 1_000
)

// entry is a ticket as it was read or written. The text of one version never changes.
type entry struct {
	version int64
	state   int
	text    []byte

	once   sync.Once
	ticket ticketstore.Ticket
	err    error
}

// decode returns the ticket.
func (e *entry) decode(place int64) (ticketstore.Ticket, error) {
	e.once.Do(func() {
		e.ticket, e.err = ticketstore.Decode(e.text)
		e.ticket.Key = strconv.FormatInt(place, 10)
		e.text = nil
	})
	if e.err != nil {
		return ticketstore.Ticket{}, fmt.Errorf("sqlstore: the ticket %d: %w", place, e.err)
	}
	return e.ticket, nil
}

// known is what a process remembers of a tree: its tickets at a version. It is not changed.
type known struct {
	version int64
	tickets map[int64]*entry
}

// waiters returns how many tickets wait. It is 0 if the owner's request is one of them.
func (k *known) waiters(owner pathlock.Owner, grant pathlock.GrantID) (n int) {
	for place, e := range k.tickets {
		if e.state != waiting && e.state != called {
			continue
		}
		n++
		if t, err := e.decode(place); err == nil && t.Owner == owner && t.Grant == grant {
			return 0
		}
	}
	return n
}

// cache remembers tickets, so that an update need not fetch and decode those that are as they were.
type cache struct {
	mu      sync.Mutex
	trees   map[treeKey]*known
	tickets int
}

// get returns what is known of a tree, nothing if that is so.
func (c *cache) get(key treeKey) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.trees[key]; k != nil {
		return k
	}
	return &known{}
}

// put remembers what a tree holds, unless something newer is known, and forgets other trees where
// that is too much.
func (c *cache) put(key treeKey, k *known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.trees[key]
	if old != nil {
		if old.version > k.version {
			return
		}
		c.drop(key)
	}
	if len(k.tickets) == 0 {
		return
	}
	if c.trees == nil {
		c.trees = make(map[treeKey]*known)
	}
	c.trees[key] = k
	c.tickets += len(k.tickets)
	for other := range c.trees {
		if c.tickets <= maxCachedTickets && len(c.trees) <= maxCachedTrees {
			return
		}
		c.drop(other)
	}
}

// forget has the next reader of a tree fetch all of it.
func (c *cache) forget(key treeKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key)
}

func (c *cache) drop(key treeKey) {
	if k := c.trees[key]; k != nil {
		c.tickets -= len(k.tickets)
		delete(c.trees, key)
	}
}
