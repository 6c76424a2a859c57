package storetest

import (
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// outliving is about holds that outlive their process: see [pathlock.Store]. Every actor
// stands for a process, and one that is not heard of again for a crashed one.
func outliving() topic {
	return topic{"holds that outlive", []promise{
		{"the process that detached crashes, and one that attached: the hold ends with its lease, and the token with it", func(f *fixture) {
			a := f.actor("crashed editor")
			a.takes(x("/a"))
			token := a.detaches(2 * f.short)
			token.transfers(token, 0)
			f.actor("other").isRefused(x("/a"))
			f.actor("next").queuesFor(x("/a")).isGranted()
			f.requireIs(token.tryTransfer(token, 0), pathlock.ErrLost)
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
			if after := f.onlyHolder().Until; before.Sub(after).Abs() > 5*time.Millisecond {
				f.Errorf("the lease ended at %v, and %v after a transfer", before, after)
			}
		}},
		{"a transfer that arrives again late leaves what its owner has acquired since", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			token := a.detaches(long)
			a.takes(x("/b"))
			f.requireIs(a.tryTransfer(token, 0), pathlock.ErrInvalidRequest)
			f.holders(2)
			token.isRefused(x("/b"))
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
			f.requireIs(f.store.Release(f.ctx, f.tree, token.owner, h.id), nil)
			f.actor("other").isRefused(x("/a/b"))
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
	}}
}
