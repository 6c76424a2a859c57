package storetest

import (
	"slices"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// outliving is about holds that outlive their process: see [pathlock.Store]. Every actor
// stands for a process, and one that is not heard of again for a crashed one.
func outliving() topic {
	return topic{"holds that outlive", []promise{
		{"one process detaches, another attaches: it holds the same, under the same fences", func(f *fixture) {
			a := f.actor("editor")
			first, second := a.takes(x("/a")), a.takes(s("/b"), ix("/c"))
			token := a.detaches(long)
			f.requireGrants(token.transfers(token, 0), first, second)
			f.requireIs(first.tryRelease(), pathlock.ErrNotHeld)
			f.actor("other").isRefused(x("/a"))
			f.actor("other").isRefused(x("/b"))
			token.releases(first.id)
			f.actor("other").takes(x("/a"))
			f.actor("other").isRefused(x("/b"))
			token.releases(second.id)
			f.actor("other").takes(x("/b"))
		}},
		{"a transfer tells the note, and how long the lease lasts", func(f *fixture) {
			a := f.actor("edit of /a")
			a.takes(x("/a"))
			token := f.detached("token")
			got := a.transfers(token, long)
			if note := got.Grants[0].Note; note != a.name {
				f.Errorf("the note is %q, want %q", note, a.name)
			}
			f.requireLeft(got, long)
			f.requireLeft(token.transfers(token, 0), long)
		}},
		{"a detached hold is marked, keeps its note, and others are told of it", func(f *fixture) {
			a := f.actor("edit of /a")
			a.takes(x("/a"))
			if f.onlyHolder().Detached {
				f.Error("a hold is marked as detached before it was")
			}
			token := a.detaches(long)
			h := f.onlyHolder()
			if !h.Detached || h.Owner != token.owner || h.Note != a.name {
				f.Errorf("the hold of %q, %q, is detached: %v; want that of the token", h.Owner, h.Note, h.Detached)
			}
			if c := f.actor("other").isRefused(x("/a")); c.Blocker.Owner != token.owner || c.Blocker.Note != a.name {
				f.Errorf("blocked by %+v, want the token's hold", c.Blocker)
			}
		}},
		{"the process that detached crashes: the hold lives until its lease ends", func(f *fixture) {
			a := f.actor("crashed editor")
			a.takes(x("/a"))
			a.detaches(2 * f.short)
			f.actor("other").isRefused(x("/a"))
			f.actor("next").queuesFor(x("/a")).isGranted()
		}},
		{"the process that attached crashes: the hold ends with the lease, and the token with it", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			token := a.detaches(2 * f.short)
			token.transfers(token, 0)
			f.actor("next").queuesFor(x("/a")).isGranted()
			f.requireIs(token.tryTransfer(token, 0), pathlock.ErrLost)
		}},
		{"the process that attached renews it, like any hold", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			token := a.detaches(2 * f.short)
			if token.renew(long) {
				f.Fatal("the lease is lost")
			}
			f.pass(2 * f.short)
			f.actor("other").isRefused(x("/a"))
		}},
		{"a refresh to a later end", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			token := a.detaches(2 * f.short)
			f.requireLeft(token.transfers(token, long), long)
			f.pass(2 * f.short)
			f.actor("other").isRefused(x("/a"))
		}},
		{"a refresh to an earlier end lets waiters in then", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			token := a.detaches(long)
			waiter := f.actor("waiter").queuesFor(x("/a"))
			f.requireLeft(token.transfers(token, f.short), f.short)
			waiter.isGranted()
		}},
		{"a transfer without a lease leaves the end where it was", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			token := a.detaches(long)
			before := f.onlyHolder().Until
			token.transfers(token, 0)
			if after := f.onlyHolder().Until; !near(before, after) {
				f.Errorf("the lease ended at %v, and %v after a transfer", before, after)
			}
		}},
		{"two attach at once: both hold it, as one owner", func(f *fixture) {
			a := f.actor("editor")
			h := a.takes(x("/a"))
			token := a.detaches(long)
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					got, err := token.transfer(token, 0)
					if err != nil || len(got.Grants) != 1 || got.Grants[0].Fence != h.fence {
						f.Errorf("attaching: %+v, %v; want the one grant", got, err)
					}
				})
			}
			both.Wait()
			token.takes(x("/a/b")) // neither keeps the other out
			token.releases(h.id)
			f.actor("other").isRefused(x("/a/b"))
		}},
		{"of two who take a hold over at once one gets it, and the other ErrLost", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			heirs := []*actor{f.detached("heir"), f.detached("other heir")}
			errs := make([]error, len(heirs))
			var both sync.WaitGroup
			for i, heir := range heirs {
				both.Go(func() { errs[i] = a.tryTransfer(heir, long) })
			}
			both.Wait()
			winner := slices.Index(errs, nil)
			if winner < 0 {
				f.Fatalf("nobody got it: %v", errs)
			}
			f.requireIs(errs[1-winner], pathlock.ErrLost)
			if h := f.onlyHolder(); h.Owner != heirs[winner].owner {
				f.Errorf("it is held by %q, want the one who was told so", h.Owner)
			}
		}},
		{"the gate is detached and attached like any hold", func(f *fixture) {
			a := f.actor("migration")
			h := a.takesGate()
			token := a.detaches(long)
			got := token.transfers(token, 0)
			f.requireGrants(got, h)
			if !got.Grants[0].Gate {
				f.Error("the transfer does not say that the gate is held")
			}
			if s := f.onlyHolder(); !s.Gate || !s.Detached || s.Owner != token.owner {
				f.Errorf("the snapshot shows %+v, want the token's gate", s)
			}
			f.actor("other").isRefused(is("/"))
			inner := token.takes(x("/a"))
			token.renew(long)
			token.releases(h.id)
			f.actor("other").takes(x("/b"))
			inner.release()
		}},
		{"a detached gate's lease ends", func(f *fixture) {
			a := f.actor("crashed migration")
			a.takesGate()
			a.detaches(f.short)
			f.actor("next").queuesFor(x("/a")).isGranted()
		}},
		{"what waits in the name of the one who detached keeps waiting, as one who holds nothing", func(f *fixture) {
			one, two := f.actor("one").takes(x("/b")), f.actor("two").takes(x("/c"))
			a := f.actor("editor")
			h := a.takes(x("/a"))
			first, second := a.queuesFor(x("/b")), a.queuesFor(x("/a"), x("/c"))
			token := a.detaches(long)
			f.waiters(2)
			one.release()
			first.isGranted().release()
			two.release()
			second.stillWaits()
			token.releases(h.id)
			second.isGranted()
		}},
		{"what waits in the name of the one who detached holds up nobody's end", func(f *fixture) {
			f.actor("other").takes(x("/b"))
			a := f.actor("editor")
			a.takes(x("/a"))
			p := a.queuesFor(x("/b"))
			a.detaches(f.short)
			f.actor("next").queuesFor(x("/a")).isGranted()
			p.stillWaits()
		}},
		{"a refresh changes nothing for what waits in the owner's name", func(f *fixture) {
			f.actor("reader").takes(s("/a"))
			a := f.actor("editor")
			a.takes(s("/a"))
			f.actor("writer").queuesFor(x("/a"))
			conversion := a.queuesFor(x("/a"))
			a.transfers(a, long)
			conversion.stillWaits()
		}},
		{"who waits for a hold goes on waiting for its new owner", func(f *fixture) {
			a := f.actor("editor")
			h := a.takes(x("/a"))
			waiter := f.actor("waiter").queuesFor(x("/a"))
			token := a.detaches(long)
			waiter.stillWaits()
			token.releases(h.id)
			waiter.isGranted()
		}},
		{"the new owner is one that can be part of a deadlock, the old one is not", func(f *fixture) {
			a, b := f.actor("editor"), f.actor("other")
			held := a.takes(x("/a"))
			own := b.takes(x("/b"))
			token := a.detaches(long)
			waiter := b.queuesFor(x("/a"))
			token.deadlocks(x("/b"))
			a.queuesFor(x("/b")).isCancelled()
			token.releases(held.id)
			waiter.isGranted().release()
			own.release()
		}},
		{"the new owner's conversion waits for readers alone", func(f *fixture) {
			reader := f.actor("reader").takes(s("/a"))
			a := f.actor("editor")
			a.takes(s("/a"))
			writer := f.actor("writer").queuesFor(x("/a"))
			conversion := a.detaches(long).queuesFor(x("/a"))
			reader.release()
			conversion.isGranted()
			writer.stillWaits()
		}},
		{"a transfer that is sent again is answered as the first one", func(f *fixture) {
			a := f.actor("editor")
			first, second := a.takes(x("/a")), a.takes(s("/b"))
			token := f.detached("token")
			f.requireGrants(a.transfers(token, long), first, second)
			again := a.transfers(token, long)
			f.requireGrants(again, first, second)
			f.requireLeft(again, long)
			if n := len(f.holders(2)); n != 2 {
				f.Errorf("%d grants, want 2", n)
			}
		}},
		{"a hold that was released is lost", func(f *fixture) {
			a := f.actor("editor")
			h := a.takes(x("/a"))
			token := a.detaches(long)
			token.releases(h.id)
			f.requireIs(token.tryTransfer(token, 0), pathlock.ErrLost)
			f.requireIs(token.tryTransfer(f.detached("heir"), long), pathlock.ErrLost)
			f.requireEmpty(f.tree)
		}},
		{"a hold whose lease has ended is lost, and nothing changes", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			token := a.detaches(f.short)
			f.pass(f.short)
			f.requireIs(token.tryTransfer(token, long), pathlock.ErrLost)
			f.requireEmpty(f.tree)
			f.actor("other").takes(x("/a"))
		}},
		{"a hold that was taken away is lost", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			token := a.detaches(long)
			waiter := f.actor("waiter").queuesFor(x("/a"))
			token.forced()
			waiter.isGranted()
			f.requireIs(token.tryTransfer(token, long), pathlock.ErrLost)
			if !token.renew(long) {
				f.Error("a renewal does not report the loss")
			}
		}},
		{"an owner who only waits has nothing to detach", func(f *fixture) {
			f.actor("holder").takes(x("/a"))
			a := f.actor("waiter")
			p := a.queuesFor(x("/a"))
			f.requireIs(a.tryTransfer(f.detached("token"), long), pathlock.ErrLost)
			p.stillWaits()
		}},
		{"a transfer in another tree moves nothing", func(f *fixture) {
			a := f.actor("editor")
			h := a.takes(x("/a"))
			elsewhere := &actor{fixture: f, tree: f.newTree("another " + f.tree.ID()), owner: a.owner, name: a.name}
			f.requireIs(elsewhere.tryTransfer(f.detached("token"), long), pathlock.ErrLost)
			h.release()
		}},
		{"fences go on growing", func(f *fixture) {
			a := f.actor("editor")
			last := f.requireGrowth(0, a.takes(x("/a")))
			token := a.detaches(long)
			f.requireGrowth(last, token.takes(x("/b")))
		}},
		{"a transfer that makes no sense is refused", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			f.requireIs(a.tryTransfer(&actor{fixture: f}, long), pathlock.ErrInvalidRequest)
			f.requireIs(a.tryTransfer(f.detached("token"), -time.Second), pathlock.ErrInvalidRequest)
			f.requireHolds(a)
		}},
	}}
}
