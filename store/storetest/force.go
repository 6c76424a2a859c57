package storetest

import "github.com/pathlock-go/pathlock"

func force() topic {
	return topic{"force release", []promise{
		{"a holder loses everything it has in the tree, and waiters are let in", func(f *fixture) {
			a := f.actor("holder")
			first, second := a.takes(x("/a")), a.takes(s("/b"))
			waiter := f.actor("waiter").queuesFor(x("/a"), x("/b"))
			a.forced()
			waiter.isGranted()
			f.requireIs(first.tryRelease(), pathlock.ErrNotHeld)
			f.requireIs(second.tryRelease(), pathlock.ErrNotHeld)
			if !a.renew(long) {
				f.Error("a renewal does not report the loss")
			}
		}},
		{"the gate is taken away like any hold", func(f *fixture) {
			a := f.actor("migration")
			h := a.takesGate()
			waiter := f.actor("waiter").queuesFor(x("/a"))
			a.forced()
			waiter.isGranted()
			f.requireIs(h.tryRelease(), pathlock.ErrNotHeld)
		}},
		{"a waiter loses its place, is told so, and those behind it are let in", func(f *fixture) {
			f.actor("reader").takes(s("/a"))
			writer := f.actor("writer").queuesFor(x("/a"))
			late := f.actor("late reader").queuesFor(s("/a"))
			writer.forced()
			f.requireIs(writer.fails(), pathlock.ErrLost)
			late.isGranted()
			f.noWaiters()
		}},
		{"a waiter whose place was taken away is not granted, though others ask before it looks", func(f *fixture) {
			for range 10 {
				holder := f.actor("holder").takes(x("/a"))
				waiter := f.actor("waiter").queuesFor(x("/a"))
				waiter.forced()
				next := f.actor("next").queuesFor(x("/a"))
				holder.release()
				f.requireIs(waiter.fails(), pathlock.ErrLost)
				next.isGranted().release()
			}
		}},
		{"other owners keep what they have", func(f *fixture) {
			a := f.actor("holder")
			a.takes(s("/a"))
			f.actor("other holder").takes(s("/a"))
			a.forced()
			f.actor("writer").isRefused(x("/a"))
		}},
		{"other trees are not touched", func(f *fixture) {
			a := f.actor("holder")
			a.takes(x("/a"))
			elsewhere := &actor{fixture: f, tree: f.newTree("another " + f.tree.ID()), owner: a.owner, name: a.name}
			elsewhere.takes(x("/a"))
			a.forced()
			f.requireHolds(elsewhere)
		}},
		{"of an owner that has nothing it is an error", func(f *fixture) {
			a := f.actor("nobody")
			f.requireIs(f.store.ForceRelease(f.ctx, f.tree, a.owner), pathlock.ErrNotHeld)
			a.takes(x("/a")).release()
			f.requireIs(f.store.ForceRelease(f.ctx, f.tree, a.owner), pathlock.ErrNotHeld)
		}},
		{"an owner that was forced out takes part anew", func(f *fixture) {
			a := f.actor("holder")
			a.takes(x("/a"))
			a.forced()
			f.requireEmpty(f.tree)
			a.takes(x("/a"))
			f.actor("other").isRefused(x("/a"))
		}},
		{"a request that builds on holds which were taken away is refused with ErrLost", func(f *fixture) {
			a := f.actor("holder")
			a.takes(x("/a"))
			a.forced()
			f.requireIs(a.buildsOn(x("/b")), pathlock.ErrLost)
			f.requireEmpty(f.tree)
		}},
		{"a request that builds on holds whose lease has ended is refused with ErrLost", func(f *fixture) {
			a := f.actor("sleeper")
			a.leases(f.short, x("/a"))
			f.pass(f.short)
			f.requireIs(a.buildsOn(x("/b")), pathlock.ErrLost)
			f.requireEmpty(f.tree)
		}},
		{"a request that builds on holds which are there is granted", func(f *fixture) {
			a := f.actor("holder")
			a.takes(x("/a"))
			f.requireIs(a.buildsOn(x("/b")), nil)
			f.actor("other").isRefused(x("/b"))
		}},
	}}
}

// buildsOn asks for claims as somebody who believes to hold something, and returns how that ends.
func (a *actor) buildsOn(claims ...pathlock.Claim) error {
	req := a.ask(claims...)
	req.Held = true
	g, err := a.store.Acquire(a.ctx, req)
	if err == nil {
		a.hold(req.Grant, g)
	}
	return err
}

// forced requires that everything can be taken away from the actor.
func (a *actor) forced() {
	a.Helper()
	if err := a.store.ForceRelease(a.ctx, a.tree, a.owner); err != nil {
		a.Fatalf("ForceRelease(%s): %v", a.name, err)
	}
}
