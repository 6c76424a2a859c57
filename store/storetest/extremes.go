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
		{"a wait and a lease of math.MaxInt64, granted, renewed and transferred", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			a := f.actor("editor")
			req := a.ask(x("/a"))
			req.Wait, req.Lease = endless, endless
			p := a.queue(f.ctx, req)
			f.pass(f.short)
			p.stillWaits()
			holder.release()
			p.isGranted()
			f.requireFar(f.onlyHolder())
			a.renew(endless)
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
			f.waiters(0)
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
