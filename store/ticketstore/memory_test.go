package ticketstore_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// server keeps tickets in memory, as they are read from text, for any number of backends.
type server struct {
	mu      sync.Mutex
	trees   map[pathlock.Tree]*shelf
	keys    int
	updates map[pathlock.Tree]int // how many there were
	watches map[*watch]struct{}
}

// shelf is what the server keeps of one tree.
type shelf struct {
	fence   uint64
	tickets map[string]ticketstore.Ticket
}

// watch is somebody who waits for the change of a ticket.
type watch struct {
	tree        pathlock.Tree
	key, before string
	looks       uint64
	wake        func()
}

func newServer() *server {
	return &server{trees: make(map[pathlock.Tree]*shelf), updates: make(map[pathlock.Tree]int), watches: make(map[*watch]struct{})}
}

// backend is one process's view of a server.
type backend struct {
	*server
	// limit is how many tickets an update may write, and largest how many bytes in one ticket, 0 if
	// there is no limit.
	limit, largest atomic.Int64
	// late is how far the process's idea of the server's clock may be off.
	late time.Duration
	// dead is closed when the process has no connection any more.
	dead chan struct{}
}

func (s *server) backend() *backend { return &backend{server: s, dead: make(chan struct{})} }

// reach fails if the server cannot be reached.
func (b *backend) reach(ctx context.Context) error {
	select {
	case <-b.dead:
		return fmt.Errorf("%w: the connection is gone", pathlock.ErrUnavailable)
	default:
		return ctx.Err()
	}
}

// state returns what a tree holds. It expects mu to be locked.
func (b *backend) state(tree pathlock.Tree) ticketstore.State {
	now := time.Now()
	state := ticketstore.State{Now: now.Add(-b.late), Error: b.late, Floor: uint64(now.UnixMicro())}
	if s := b.trees[tree]; s != nil {
		state.Fence = s.fence
		state.Tickets = slices.Collect(maps.Values(s.tickets))
	}
	return state
}

func (b *backend) Update(ctx context.Context, tree pathlock.Tree, change func(ticketstore.State) ticketstore.Changes) error {
	if err := b.reach(ctx); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b.state(tree)) // as if another process had been faster
	c := change(b.state(tree))
	if n := len(c.Put) + len(c.Delete); b.Limit() > 0 && n > b.Limit() {
		return fmt.Errorf("%w: %d tickets in one step", pathlock.ErrInvalidRequest, n)
	}
	for _, t := range c.Put {
		if n, most := len(ticketstore.Encode(t)), b.largest.Load(); most > 0 && int64(n) > most {
			return fmt.Errorf("%w: a ticket of %d bytes", pathlock.ErrInvalidRequest, n)
		}
	}
	b.write(tree, c)
	return nil
}

// write applies changes, and tells those who wait. It expects mu to be locked.
func (b *backend) write(tree pathlock.Tree, c ticketstore.Changes) {
	if c.Empty() {
		return
	}
	b.server.updates[tree]++
	s := b.trees[tree]
	if s == nil {
		s = &shelf{tickets: make(map[string]ticketstore.Ticket)}
		b.trees[tree] = s
	}
	s.fence = c.Fence
	for i := range c.Put {
		t := &c.Put[i]
		if t.Key == "" {
			for _, other := range s.tickets {
				if other.Place == t.Place {
					panic(fmt.Sprintf("the place of a new ticket, %d, is that of one which is kept: %+v", t.Place, other))
				}
			}
			b.keys++
			t.Key = fmt.Sprint(b.keys)
		}
		read, err := ticketstore.Decode(ticketstore.Encode(*t))
		if err != nil {
			panic(err) // no test writes what cannot be read
		}
		read.Key = t.Key
		s.tickets[t.Key] = read
	}
	for _, t := range c.Delete {
		delete(s.tickets, t.Key)
	}
	if len(s.tickets) == 0 {
		delete(b.trees, tree)
	}
	for w := range b.watches {
		if w.tree == tree && b.hasChanged(*w) {
			w.wake()
		}
	}
}

// hasChanged reports whether a watch has seen what it waits for. It expects mu to be locked.
func (b *backend) hasChanged(w watch) bool {
	s := b.trees[w.tree]
	if s == nil {
		return true
	}
	t, there := s.tickets[w.key]
	if _, waits := s.tickets[w.before]; !there || !waits {
		return true
	}
	return t.State != ticketstore.Waiting || t.Looks != w.looks
}

func (b *backend) View(ctx context.Context, tree pathlock.Tree) (ticketstore.State, error) {
	if err := b.reach(ctx); err != nil {
		return ticketstore.State{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state(tree), nil
}

func (b *backend) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	if err := b.reach(ctx); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var live []pathlock.Tree
	for _, tree := range slices.Collect(maps.Keys(b.trees)) {
		state := b.state(tree)
		if slices.ContainsFunc(state.Tickets, func(t ticketstore.Ticket) bool { return t.Live(state.Now) }) {
			live = append(live, tree)
		}
	}
	return live, nil
}

func (b *backend) Watch(ctx context.Context, tree pathlock.Tree, ticket, before ticketstore.Ticket, wake func()) (func(), error) {
	if err := b.reach(ctx); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w := &watch{tree: tree, key: ticket.Key, before: before.Key, looks: ticket.Looks, wake: wake}
	if b.hasChanged(*w) {
		wake()
	}
	b.watches[w] = struct{}{}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.watches, w)
	}, nil
}

func (b *backend) Limit() int { return int(b.limit.Load()) }

func (b *backend) Ping(ctx context.Context) error { return b.reach(ctx) }

// open returns a store on a backend, which is closed at the end of the test.
func open(t testing.TB, b *backend) *ticketstore.Store {
	s := ticketstore.New("memory", b, timeout)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
