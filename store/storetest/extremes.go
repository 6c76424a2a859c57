package storetest

import (
	"math"
	"time"

	"github.com/pathlock-go/pathlock"
)

// endless is the longest time that there is: people write it for "for ever".
const endless = time.Duration(math.MaxInt64)

func extremes() topic {
	return topic{"extremes", []promise{
		{"a wait of math.MaxInt64 waits, and is granted", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			waiter := f.actor("waiter")
			req := waiter.ask(x("/a"))
			req.Wait = endless
			p := waiter.queue(f.ctx, req)
			f.pass(f.short)
			p.stillWaits()
			holder.release()
			p.isGranted()
		}},
		{"a wait of math.MaxInt64 can be cancelled", func(f *fixture) {
			f.actor("holder").takes(x("/a"))
			waiter := f.actor("waiter")
			req := waiter.ask(x("/a"))
			req.Wait = endless
			waiter.queue(f.ctx, req).isCancelled()
			f.noWaiters()
		}},
		{"a lease of math.MaxInt64 is granted, shown, and released", func(f *fixture) {
			a := f.actor("holder")
			h := a.leases(endless, x("/a"))
			f.requireFar(f.onlyHolder())
			f.pass(f.short)
			f.actor("other").isRefused(x("/a"))
			h.release()
			f.actor("other").takes(x("/a"))
		}},
		{"a lease of math.MaxInt64 after a wait", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			waiter := f.actor("waiter")
			req := waiter.ask(x("/a"))
			req.Wait, req.Lease = endless, endless
			p := waiter.queue(f.ctx, req)
			holder.release()
			p.isGranted()
			f.requireFar(f.onlyHolder())
		}},
		{"a renewal for math.MaxInt64", func(f *fixture) {
			a := f.actor("holder")
			a.leases(2*f.short, x("/a"))
			if a.renew(endless) {
				f.Fatal("the lease is lost")
			}
			f.requireFar(f.onlyHolder())
			f.pass(2 * f.short)
			f.actor("other").isRefused(x("/a"))
		}},
		{"a transfer for math.MaxInt64, and back to an end that comes", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			token := a.detaches(endless)
			f.requireFar(f.onlyHolder())
			next := f.actor("next").queuesFor(x("/a"))
			token.transfers(token, f.short)
			next.isGranted()
		}},
		{"the shortest wait ends in a conflict, and leaves the queue", func(f *fixture) {
			f.actor("holder").takes(x("/a"))
			a := f.actor("asker")
			req := a.ask(x("/a"))
			req.Wait = 1
			a.conflict(a.start(f.ctx, req).fails())
			f.noWaiters()
		}},
	}}
}

// requireFar checks that a lease ends in the far future, and at a time that can be written.
func (f *fixture) requireFar(h pathlock.Entry) {
	f.Helper()
	const decade = 10 * 365 * 24 * time.Hour
	if left := time.Until(h.Until); left < decade {
		f.Errorf("the lease ends at %v, want a time that nobody lives to see", h.Until)
	}
	if _, err := h.Until.MarshalText(); err != nil {
		f.Errorf("the end of the lease: %v", err)
	}
}
