package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// closing is about the end of a client.
func (r *suite) closing(newStore func(t *testing.T) pathlock.Store) topic {
	return topic{"closing", []promise{
		{"ends the waits, and refuses what follows", func(f *fixture) {
			const lease = 2 * time.Second
			c := &fixture{T: f.T, ctx: f.ctx, store: newStore(f.T), tree: f.tree, short: f.short, mortal: true}
			holder := c.actor("holder").leases(lease, x("/a"))
			a := c.actor("waiter")
			req := a.ask(x("/a"))
			req.Lease = lease
			waiter := a.queue(a.ctx, req)
			if err := c.store.Close(c.ctx); err != nil {
				f.Errorf("Close: %v", err)
			}
			c.requireIs(waiter.fails(), pathlock.ErrClosed)
			calls := c.calls(holder)
			calls["Acquire"] = func() error { _, err := c.store.Acquire(c.ctx, c.actor("late").ask(x("/b"))); return err }
			for name, call := range calls {
				if err := call(); !errors.Is(err, pathlock.ErrClosed) || !errors.Is(err, pathlock.ErrUnavailable) {
					f.Errorf("%s of a closed store: %v, want one that matches ErrClosed and ErrUnavailable", name, err)
				}
			}
			if err := c.store.Close(c.ctx); err != nil {
				f.Errorf("a second Close: %v", err)
			}
			for end := time.Now().Add(patience); len(f.snapshot(f.tree).Holders) > 0 && time.Now().Before(end); {
				f.pass(lease / 4) // of the hold, which nobody releases
			}
		}},
	}}
}
