package storetest

import "github.com/pathlock-go/pathlock"

func force() topic {
	return topic{"force release", []promise{
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
		{"a request that builds on holds whose lease has ended is refused with ErrLost", func(f *fixture) {
			a := f.actor("sleeper")
			a.leases(f.short, x("/a"))
			f.pass(f.short)
			f.requireIs(a.buildsOn(x("/b")), pathlock.ErrLost)
			f.requireEmpty(f.tree)
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
