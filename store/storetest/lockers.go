package storetest

import (
	"context"
	"time"

	"github.com/pathlock-go/pathlock"
)

// term is the lease of locks that are meant to be renewed, or to end, during the test.
func (f *fixture) term() time.Duration { return 3 * f.short }

// lockers is about a [pathlock.Locker] on the store: what people see of it.
func lockers() topic {
	return topic{"a locker on the store", []promise{
		{"the context of a lock ends by the clock while a renewal hangs, before anybody else is let in", func(f *fixture) {
			l := f.locker(deafened{f.store})
			k := l.locks(f.ctx, x("/a"))
			next := f.actor("next").queuesFor(x("/a"))
			next.isGranted()
			if err := k.Context().Err(); err == nil {
				f.Error("somebody else holds what a lock has whose context has not ended")
			}
			select {
			case <-k.Context().Done():
			case <-time.After(patience):
				f.Fatal("the context of the lock does not end")
			}
			f.requireIs(context.Cause(k.Context()), pathlock.ErrLost)
			f.requireIs(k.Release(f.ctx), pathlock.ErrLost)
		}},
		{"a lock that is held for too long ends, and somebody else gets in", func(f *fixture) {
			l := f.locker(f.store)
			k, err := l.Acquire(f.ctx, pathlock.Request{Tree: f.tree, Claims: claims{x("/a")}, MaxHold: f.short})
			if err != nil {
				f.Fatalf("a locker asks for X /a: %v", err)
			}
			a := f.actor("next")
			req := a.ask(x("/a"))
			req.Wait = long
			a.start(f.ctx, req).isGranted()
			if err := k.Context().Err(); err == nil {
				f.Error("somebody else holds what a lock has whose context has not ended")
			}
			f.requireIs(context.Cause(k.Context()), pathlock.ErrHeldTooLong)
			f.requireIs(k.Release(f.ctx), pathlock.ErrHeldTooLong)
		}},
	}}
}
