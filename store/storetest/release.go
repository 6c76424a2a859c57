package storetest

import "github.com/pathlock-go/pathlock"

func release() topic {
	return topic{"release", []promise{
		{"what is released is free", func(f *fixture) {
			f.actor("first").takes(x("/a"), s("/b")).release()
			f.actor("second").takes(x("/"))
		}},
		{"scenario 10: a release by one who does not hold is an error and changes nothing", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			thief := f.actor("thief")
			f.requireIs(f.store.Release(f.ctx, f.tree, thief.owner, holder.id), pathlock.ErrNotHeld)
			f.actor("other").isRefused(x("/a"))
		}},
		{"scenario 10: a release of another grant is an error and changes nothing", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			f.requireIs(f.store.Release(f.ctx, f.tree, holder.owner, holder.id+"x"), pathlock.ErrNotHeld)
			f.actor("other").isRefused(x("/a"))
		}},
		{"scenario 10: a double release is an error and changes nothing", func(f *fixture) {
			a := f.actor("holder")
			first := a.takes(x("/a"))
			second := a.takes(x("/a"))
			second.release()
			f.requireIs(second.tryRelease(), pathlock.ErrNotHeld)
			f.actor("other").isRefused(x("/a"))
			first.release()
			f.requireIs(first.tryRelease(), pathlock.ErrNotHeld)
		}},
		{"a release in another tree is an error and changes nothing", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			other := f.newTree("another " + f.tree.ID())
			f.requireIs(f.store.Release(f.ctx, other, holder.owner, holder.id), pathlock.ErrNotHeld)
			f.actor("other").isRefused(x("/a"))
		}},
		{"a release of a request that waits is an error and changes nothing", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			waiter := f.actor("waiter").queuesFor(x("/a"))
			f.requireIs(f.store.Release(f.ctx, f.tree, waiter.owner, waiter.id), pathlock.ErrNotHeld)
			waiter.stillWaits()
			holder.release()
			waiter.isGranted()
		}},
		{"a grant id is its owner's: two owners may use the same one", func(f *fixture) {
			first, second := f.actor("first"), f.actor("second")
			a, b := first.ask(x("/a")), second.ask(x("/b"))
			b.Grant = a.Grant
			one, two := first.take(a), second.take(b)
			one.release()
			f.actor("other").isRefused(x("/b"))
			f.actor("another").takes(x("/a"))
			two.release()
		}},
		{"an owner who released takes part anew", func(f *fixture) {
			a := f.actor("owner")
			a.takes(x("/a")).release()
			a.takes(x("/a"))
			f.actor("other").isRefused(x("/a"))
		}},
	}}
}
