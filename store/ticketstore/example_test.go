package ticketstore_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// drawer is a backend in memory, the smallest one that does all that a backend has to.
type drawer struct {
	mu      sync.Mutex
	trees   map[pathlock.Tree]map[string]ticketstore.Ticket
	fence   uint64
	written chan struct{} // closed and replaced with each change
}

func newDrawer() *drawer {
	return &drawer{trees: make(map[pathlock.Tree]map[string]ticketstore.Ticket), written: make(chan struct{})}
}

func (d *drawer) Update(_ context.Context, tree pathlock.Tree, _ bool, change func(ticketstore.State) ticketstore.Changes) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := change(d.state(tree))
	if c.Empty() {
		return true, nil
	}
	tickets := d.trees[tree]
	if tickets == nil {
		tickets = make(map[string]ticketstore.Ticket)
		d.trees[tree] = tickets
	}
	for i := range c.Put {
		c.Put[i].Key = fmt.Sprint(c.Put[i].Place)
		tickets[c.Put[i].Key] = c.Put[i]
	}
	for _, t := range c.Delete {
		delete(tickets, t.Key)
	}
	d.fence = max(d.fence, c.Fence)
	close(d.written)
	d.written = make(chan struct{})
	return true, nil
}

func (d *drawer) state(tree pathlock.Tree) ticketstore.State {
	s := ticketstore.State{Now: time.Now(), Floor: d.fence}
	for _, t := range d.trees[tree] {
		s.Tickets = append(s.Tickets, t)
		s.Fence = max(s.Fence, t.Fence)
	}
	return s
}

func (d *drawer) Trees(context.Context) (trees []pathlock.Tree, _ error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for tree, tickets := range d.trees {
		for _, t := range tickets {
			if t.Live(time.Now()) {
				trees = append(trees, tree)
				break
			}
		}
	}
	return trees, nil
}

func (d *drawer) Watch(ctx context.Context, tree pathlock.Tree, ticket, before ticketstore.Ticket) {
	for {
		d.mu.Lock()
		now, there := d.trees[tree][ticket.Key]
		_, waits := d.trees[tree][before.Key]
		written := d.written
		d.mu.Unlock()
		if !there || !waits || now.State != ticketstore.Waiting || now.Looks != ticket.Looks {
			return
		}
		select {
		case <-written:
		case <-ctx.Done():
			return
		}
	}
}

func (d *drawer) Limit() int { return 0 }

func (d *drawer) Ping(context.Context) error { return nil }

// A store of one's own is a backend, here the smallest one. Two lockers act as two processes.
func Example() {
	ctx := context.Background()
	shared := newDrawer()
	here, there := ticketstore.New("drawer", shared, 5*time.Second), ticketstore.New("drawer", shared, 5*time.Second)
	defer func() { fmt.Println(here.Close(ctx), there.Close(ctx)) }()

	lock, err := pathlock.New(here).Mutex("job").Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	waiting := make(chan error)
	go func() {
		lock, err := pathlock.New(there).Mutex("job").Lock(ctx)
		if err == nil {
			err = lock.Release(ctx)
		}
		waiting <- err
	}()
	fmt.Println(lock.Release(ctx))
	fmt.Println(<-waiting)
	// Output:
	// <nil>
	// <nil>
	// <nil> <nil>
}
