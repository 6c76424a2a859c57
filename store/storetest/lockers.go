package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// term is the lease of locks that are meant to be renewed, or to end, during the test.
func (f *fixture) term() time.Duration { return 3 * f.short }

// lockers is about a [pathlock.Locker] on the store: what people see of it.
func lockers() topic {
	return topic{"a locker on the store", []promise{
		{"re-entry asks no store, and what is released last releases", func(f *fixture) {
			l := f.locker(f.store)
			outer := l.locks(f.ctx, x("/a"))
			inner := l.locks(outer.Context(), x("/a/b"))
			l.releases(outer)
			f.actor("other").isRefused(x("/a"))
			l.releases(inner)
			f.actor("other").takes(x("/a"))
		}},
		{"an acquisition within a lock is granted the difference", func(f *fixture) {
			l := f.locker(f.store)
			outer := l.locks(f.ctx, s("/a"))
			upgrade := l.locks(outer.Context(), x("/a"))
			f.actor("other").isRefused(s("/a"))
			l.releases(upgrade)
			f.actor("other").takes(s("/a")).release()
			l.releases(outer)
		}},
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
		{"a release that fails is tried again until it works", func(f *fixture) {
			faults := &faulty{Store: f.store}
			l := f.locker(faults)
			k, err := l.Acquire(f.ctx, pathlock.Request{Tree: f.tree, Claims: claims{x("/a")}, Lease: long})
			if err != nil {
				f.Fatal(err)
			}
			faults.releases.Store(3)
			if err := k.Release(f.ctx); !errors.Is(err, pathlock.ErrUnavailable) {
				f.Errorf("the release ends with %v, want ErrUnavailable", err)
			}
			// The lease is longer than anybody's patience.
			f.actor("next").queuesForOrTakes(x("/a"))
			if left := faults.releases.Load(); left > 0 {
				f.Errorf("%d releases have not failed", left)
			}
		}},
		{"Shutdown waits for the releases that are tried again", func(f *fixture) {
			faults := &faulty{Store: f.store}
			l := f.locker(faults)
			k := l.locks(f.ctx, x("/a"))
			faults.releases.Store(2)
			k.ReleaseInBackground(f.ctx)
			if err := l.Shutdown(f.ctx); err != nil {
				f.Errorf("Shutdown: %v", err)
			}
			f.requireEmpty(f.tree)
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
		{"a detached hold that nobody attaches ends with its lease", func(f *fixture) {
			l := f.locker(f.store)
			token, err := l.locks(f.ctx, x("/a")).Detach(f.ctx)
			if err != nil {
				f.Fatalf("Detach: %v", err)
			}
			f.actor("next").queuesFor(x("/a")).isGranted()
			f.requireIs(l.ReleaseToken(f.ctx, token), pathlock.ErrLost)
		}},
		{"a lock that is attached without renewal ends when the hold does", func(f *fixture) {
			l := f.locker(f.store)
			token, err := l.locks(f.ctx, x("/a")).Detach(f.ctx)
			if err != nil {
				f.Fatalf("Detach: %v", err)
			}
			k := l.attaches(token, pathlock.WithoutRenewal())
			next := f.actor("next").queuesFor(x("/a"))
			next.isGranted()
			if k.Context().Err() == nil {
				f.Error("somebody else holds what a lock has whose context has not ended")
			}
		}},
		{"Refresh sets a later end, and an earlier one", func(f *fixture) {
			l := f.locker(f.store)
			token, err := l.locks(f.ctx, x("/a")).Detach(f.ctx)
			if err != nil {
				f.Fatalf("Detach: %v", err)
			}
			until, err := l.Refresh(f.ctx, token, long)
			if left := time.Until(until); err != nil || left > long || left < long-patience {
				f.Errorf("Refresh: until %v from now, %v; want %v", left, err, long)
			}
			f.pass(f.term())
			f.actor("other").isRefused(x("/a"))
			if _, err := l.Refresh(f.ctx, token, f.short); err != nil {
				f.Errorf("Refresh: %v", err)
			}
			f.actor("next").queuesFor(x("/a")).isGranted()
			_, err = l.Refresh(f.ctx, token, long)
			f.requireIs(err, pathlock.ErrLost)
		}},
		{"ReleaseToken releases from anywhere, and whoever has it attached is told", func(f *fixture) {
			one, two := f.locker(f.store), f.locker(f.store)
			token, err := one.locks(f.ctx, x("/a")).Detach(f.ctx)
			if err != nil {
				f.Fatalf("Detach: %v", err)
			}
			k := two.attaches(token)
			if err := one.ReleaseToken(f.ctx, token); err != nil {
				f.Errorf("ReleaseToken: %v", err)
			}
			f.actor("other").takes(x("/a"))
			select {
			case <-k.Context().Done():
				f.requireIs(context.Cause(k.Context()), pathlock.ErrLost)
			case <-time.After(patience):
				f.Error("the lock that is attached does not end")
			}
			f.requireIs(one.ReleaseToken(f.ctx, token), pathlock.ErrLost)
		}},
		{"two lockers that attach one token at once both have the lock", func(f *fixture) {
			l := f.locker(f.store)
			token, err := l.locks(f.ctx, x("/a")).Detach(f.ctx)
			if err != nil {
				f.Fatalf("Detach: %v", err)
			}
			var locks [2]*pathlock.Lock
			var both sync.WaitGroup
			for i := range locks {
				both.Go(func() { locks[i] = f.locker(f.store).attaches(token) })
			}
			both.Wait()
			for _, k := range locks {
				if k != nil {
					l.requireAlive(k)
				}
			}
			if err := l.ReleaseToken(f.ctx, token); err != nil {
				f.Errorf("ReleaseToken: %v", err)
			}
		}},
	}}
}

// queuesForOrTakes requires that claims are granted, at once or soon.
func (a *actor) queuesForOrTakes(claims ...pathlock.Claim) *held {
	a.Helper()
	req := a.ask(claims...)
	req.Wait = long
	return a.start(a.ctx, req).isGranted()
}
