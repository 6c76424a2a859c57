package storetest

import "github.com/pathlock-go/pathlock"

func gate() topic {
	return topic{"gate", []promise{
		{"a gate keeps out every other owner's claim, intentions included", func(f *fixture) {
			holder := f.actor("migration")
			h := holder.takesGate()
			for _, c := range (claims{is("/"), ix("/a"), s("/a/b"), six("/c"), x("/d")}) {
				e := f.actor("asker").isRefused(c)
				if !e.Blocker.Gate || e.Blocker.Owner != holder.owner || e.Blocker.Note != holder.name || e.Gate {
					f.Errorf("%v: conflict %+v, want the gate of the migration in the way", c, e)
				}
			}
			h.release()
			f.actor("asker").takes(x("/d"))
		}},
		{"every claim of another owner keeps the gate out", func(f *fixture) {
			for _, c := range (claims{is("/"), ix("/a"), s("/a/b"), six("/c"), x("/d")}) {
				holder := f.actor("holder").takes(c)
				asker := f.actor("migration")
				e := asker.refuse(asker.askGate())
				if !e.Gate || e.Blocker.Owner != holder.owner || e.Blocker.Gate {
					f.Errorf("%v: conflict %+v, want the holder in the gate's way", c, e)
				}
				holder.release()
			}
			f.actor("migration").takesGate()
		}},
		{"a gate keeps out a gate", func(f *fixture) {
			h := f.actor("migration").takesGate()
			asker := f.actor("other migration")
			if e := asker.refuse(asker.askGate()); !e.Gate || !e.Blocker.Gate {
				f.Errorf("conflict %+v, want a gate in a gate's way", e)
			}
			h.release()
			asker.takesGate()
		}},
		{"the owner of the gate takes node locks", func(f *fixture) {
			holder := f.actor("migration")
			h := holder.takesGate()
			inner := holder.takes(x("/a"), s("/b"))
			f.actor("other").isRefused(x("/c"))
			h.release()
			f.actor("other").isRefused(x("/a"))
			f.actor("other").takes(x("/c"))
			inner.release()
			f.actor("other").takes(x("/a"))
		}},
		{"the owner of node locks takes the gate where nobody else is in the tree", func(f *fixture) {
			holder := f.actor("migration")
			h := holder.takes(x("/a"))
			holder.takesGate()
			h.release()
			f.actor("other").isRefused(x("/b"))
		}},
		{"an owner of node locks that asks for the gate passes one that waits for the gate, and so for that owner", func(f *fixture) {
			holder := f.actor("holder")
			h := holder.takes(ix("/a"))
			other := f.actor("migration")
			waiter := other.queue(f.ctx, other.askGate())
			upgraded := holder.takesGate()
			waiter.stillWaits()
			h.release()
			waiter.stillWaits()
			upgraded.release()
			waiter.isGranted().release()
			f.actor("other").takes(x("/a"))
		}},
		{"where several hold, one that asks for the gate passes one that waits for it, and the gate closes again if it gives up", func(f *fixture) {
			reader := f.actor("reader").takes(s("/b"))
			holder := f.actor("holder")
			h := holder.takes(ix("/a"))
			other := f.actor("migration")
			waiter := other.queue(f.ctx, other.askGate())
			upgrade := holder.queue(f.ctx, holder.askGate())
			upgrade.isCancelled()
			waiter.stillWaits()
			f.actor("late").isRefused(is("/c"))
			h.release()
			reader.release()
			waiter.isGranted()
		}},
		{"a request may ask for the gate and for claims at once", func(f *fixture) {
			holder := f.actor("migration")
			req := holder.ask(x("/a"))
			req.Gate = true
			h := holder.take(req)
			f.actor("other").isRefused(x("/b"))
			h.release()
			f.actor("other").takes(x("/"))
		}},
		{"a gate waits until the last other owner has gone", func(f *fixture) {
			one, two := f.actor("one").takes(x("/a")), f.actor("two").takes(s("/b"))
			g := f.actor("migration").queuesForGate()
			one.release()
			g.stillWaits()
			two.release()
			h := g.isGranted()
			f.actor("three").isRefused(is("/"))
			h.release()
		}},
		{"a waiting gate lets no newcomer pass", func(f *fixture) {
			one := f.actor("one").takes(x("/a"))
			g := f.actor("migration").queuesForGate()
			f.actor("newcomer").isRefused(x("/b"))
			newcomer := f.actor("newcomer").queuesFor(x("/b"))
			one.release()
			h := g.isGranted()
			newcomer.stillWaits()
			h.release()
			newcomer.isGranted()
		}},
		{"a gate that is not waited for any more lets everybody in", func(f *fixture) {
			f.actor("one").takes(x("/a"))
			g := f.actor("migration").queuesForGate()
			newcomer := f.actor("newcomer").queuesFor(x("/b"))
			g.isCancelled()
			newcomer.isGranted()
			f.actor("another").takes(x("/c"))
		}},
		{"an owner that holds something passes a waiting gate, which waits for it", func(f *fixture) {
			a := f.actor("one")
			h := a.takes(x("/a"))
			g := f.actor("migration").queuesForGate()
			inner := a.takes(x("/b"))
			h.release()
			g.stillWaits()
			inner.release()
			g.isGranted()
		}},
		{"claims wait for the gate", func(f *fixture) {
			h := f.actor("migration").takesGate()
			one, two := f.actor("one").queuesFor(x("/a")), f.actor("two").queuesFor(x("/b"))
			h.release()
			one.isGranted()
			two.isGranted()
		}},
		{"gates are served first come first served", func(f *fixture) {
			holder := f.actor("holder").takesGate()
			first := f.actor("first").queuesForGate()
			second := f.actor("second").queuesForGate()
			holder.release()
			h := first.isGranted()
			second.stillWaits()
			h.release()
			second.isGranted()
		}},
		{"a gate's lease ends", func(f *fixture) {
			crashed := f.actor("crashed migration")
			req := crashed.askGate()
			req.Lease = f.short
			h := crashed.take(req)
			f.actor("one").queuesFor(x("/a")).isGranted()
			f.requireIs(h.tryRelease(), pathlock.ErrNotHeld)
		}},
		{"a gate's lease is renewed", func(f *fixture) {
			a := f.actor("migration")
			req := a.askGate()
			req.Lease = 2 * f.short
			a.take(req)
			if a.renew(long) {
				f.Fatal("the lease is lost")
			}
			f.pass(2 * f.short)
			f.actor("other").isRefused(x("/a"))
		}},
	}}
}

// takesGate requires that the gate is granted at once.
func (a *actor) takesGate() *held {
	a.Helper()
	return a.take(a.askGate())
}

// queuesForGate requires that a request for the gate begins to wait.
func (a *actor) queuesForGate() *pending {
	a.Helper()
	return a.queue(a.ctx, a.askGate())
}
