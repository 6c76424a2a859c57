package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
)

// term is the lease of locks that are meant to be renewed, or to end, during the test.
func (f *fixture) term() time.Duration { return 3 * f.short }

// lockers is about a [pathlock.Locker] on the store: what people see of it.
func lockers() topic {
	return topic{"a locker on the store", []promise{
		{"a wait longer than the lease ends in a lock that lives for several leases", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			l := f.locker(f.store)
			wait := l.waitsFor(x("/a"))
			f.pass(2 * f.term())
			holder.release()
			k := wait()
			f.pass(3 * f.term())
			l.requireAlive(k)
			f.actor("other").isRefused(x("/a"))
			l.releases(k)
		}},
		{"all of a crowd that wait longer than their leases get a lock that lives", func(f *fixture) {
			const crowd = 50
			holder := f.actor("holder").takes(x("/a"))
			l := f.locker(f.store)
			var waits []func() *pathlock.Lock
			for range crowd {
				waits = append(waits, l.waitsFor(s("/a")))
			}
			f.pass(2 * f.term())
			holder.release()
			var locks []*pathlock.Lock
			for _, wait := range waits {
				locks = append(locks, wait())
			}
			f.pass(f.term())
			for _, k := range locks {
				l.requireAlive(k)
				l.releases(k)
			}
		}},
		{"locks in many trees are renewed", func(f *fixture) {
			l := f.locker(f.store)
			var locks []*pathlock.Lock
			for i := range 30 {
				tree := f.newTree(fmt.Sprint("one of many ", i, " ", f.tree.ID()))
				locks = append(locks, l.locksIn(f.ctx, tree, x("/a")))
			}
			f.pass(2 * f.term())
			for _, k := range locks {
				l.requireAlive(k)
				f.actorIn(k.Tree(), "other").isRefused(x("/a"))
				l.releases(k)
			}
		}},
		{"the context of a lock ends by the clock while a renewal hangs, before anybody else is let in", func(f *fixture) {
			faults := &faulty{Store: f.store}
			faults.hangs.Store(true)
			l := f.locker(faults)
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
		{"a lock is detached in one locker and attached in another", func(f *fixture) {
			one, two := f.locker(f.store), f.locker(f.store)
			k := one.locks(f.ctx, x("/a"))
			token, err := k.Detach(f.ctx)
			if err != nil {
				f.Fatalf("Detach: %v", err)
			}
			f.actor("other").isRefused(x("/a"))
			if h := f.onlyHolder(); !h.Detached {
				f.Errorf("the hold %+v is not marked as detached", h)
			}
			attached := two.attaches(token)
			inner := two.locks(attached.Context(), x("/a/b"))
			f.pass(2 * f.term()) // the attached lock is renewed
			two.requireAlive(attached)
			two.releases(inner)
			two.releases(attached)
			f.actor("other").takes(x("/a"))
			_, err = one.Attach(f.ctx, token)
			f.requireIs(err, pathlock.ErrLost)
		}},
	}}
}
