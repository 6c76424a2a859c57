package storetest

import (
	"errors"

	"github.com/pathlock-go/pathlock"
)

func concurrentRequests() topic {
	return topic{"several requests of one owner at once", []promise{
		{"a grant makes the owner a holder, whose other requests pass those who wait for it", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			f.actor("reader").takes(s("/b"))
			a := f.actor("owner")
			first := a.queuesFor(x("/a"))
			writer := f.actor("writer").queuesFor(x("/a"), x("/b"))
			second := a.queuesFor(s("/b"))
			// The writer now waits for the first request and the second one for the writer.
			holder.release()
			first.isGranted()
			second.isGranted()
			writer.stillWaits()
		}},
		{"a grant that closes a cycle leaves nobody in it: the other wait ends as a deadlock, or when its time is up", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			b := f.actor("second holder")
			b.takes(x("/b"))
			a := f.actor("owner")
			req := a.ask(x("/b"))
			req.Wait = 4 * f.short
			first, second := a.queuesFor(x("/a")), a.queue(f.ctx, req)
			upgrade := b.queuesFor(x("/a"))
			holder.release()
			granted := first.isGranted()
			if err := second.fails(); !errors.Is(err, pathlock.ErrDeadlock) {
				a.conflict(err)
			}
			upgrade.stillWaits()
			granted.release()
			upgrade.isGranted()
		}},
		{"what waits on top of a hold outlives that hold, as a request of an owner who holds nothing", func(f *fixture) {
			other := f.actor("other").takes(x("/b"))
			a := f.actor("editor")
			h := a.takes(x("/a"))
			req := a.ask(x("/b"))
			req.Held, req.Lease = true, 3*f.short
			p := a.queue(f.ctx, req)
			h.release()
			f.pass(req.Lease + f.short)
			p.stillWaits()
			other.release()
			p.isGranted()
		}},
	}}
}
