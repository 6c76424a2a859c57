package storetest

import (
	"fmt"
)

// passing is about who may pass whom: see "The order of the queue" in doc.go.
func passing() topic {
	return topic{"passing", []promise{
		{"an owner passes one who waits for it", func(f *fixture) {
			a := f.actor("owner")
			h := a.takes(x("/own"))
			v := f.actor("waiter").queuesFor(x("/own"), x("/node"))
			a.takes(x("/node")).release()
			h.release()
			v.isGranted()
		}},
		{"an owner passes one who waits for a holder that waits for it", func(f *fixture) {
			a, b := f.actor("owner"), f.actor("holder")
			a.takes(x("/own"))
			b.takes(x("/held"))
			b.queuesFor(x("/own"))
			f.actor("waiter").queuesFor(x("/held"), x("/node"))
			a.takes(x("/node"))
		}},
		{"an owner passes one who waits for an earlier waiter that waits for it", func(f *fixture) {
			a := f.actor("owner")
			a.takes(x("/own"))
			f.actor("earlier waiter").queuesFor(x("/own"), x("/between"))
			f.actor("waiter").queuesFor(x("/between"), x("/node"))
			a.takes(x("/node"))
		}},
		{"an owner passes one who waits for it through waiters and holders in turn", func(f *fixture) {
			a, b := f.actor("owner"), f.actor("holder")
			a.takes(x("/own"))
			b.takes(x("/held"))
			f.actor("first").queuesFor(x("/own"), x("/1"))
			b.queuesFor(x("/1"))
			f.actor("second").queuesFor(x("/held"), x("/2"))
			f.actor("third").queuesFor(x("/2"), x("/node"))
			a.takes(x("/node"))
		}},
		{"an owner comes after one who does not wait for it", func(f *fixture) {
			other := f.actor("other").takes(x("/held"))
			a := f.actor("owner")
			a.takes(x("/own"))
			waiter := f.actor("waiter").queuesFor(x("/held"), x("/node"))
			if c := a.isRefused(x("/node")); !c.Blocker.Waiting || c.Blocker.Owner != waiter.owner {
				f.Errorf("blocked by %+v, want the waiter", c.Blocker)
			}
			p := a.queuesFor(x("/node"))
			other.release()
			turn := waiter.isGranted()
			p.stillWaits()
			turn.release()
			p.isGranted()
		}},
		{"an owner comes after one who waits for a waiter that does not wait for it", func(f *fixture) {
			f.actor("other").takes(x("/held"))
			a := f.actor("owner")
			a.takes(x("/own"))
			f.actor("earlier waiter").queuesFor(x("/held"), x("/between"))
			f.actor("waiter").queuesFor(x("/between"), x("/node"))
			a.isRefused(x("/node"))
		}},
		{"an owner comes after one whom another owner passes", func(f *fixture) {
			a, b := f.actor("owner"), f.actor("other")
			a.takes(x("/own"))
			h := b.takes(x("/held"))
			waiter := f.actor("waiter").queuesFor(x("/held"), x("/node"))
			b.takes(x("/node")).release()
			a.isRefused(x("/node"))
			h.release()
			waiter.isGranted()
		}},
		{"a request need not wait for those whom an earlier waiter passes", func(f *fixture) {
			// The conversion passes the waiter, so that who waits for the conversion does not wait
			// for the waiter.
			other := f.actor("other").takes(x("/held"))
			a, b := f.actor("owner"), f.actor("converter")
			a.takes(x("/own"))
			b.takes(s("/shared"))
			f.actor("waiter").queuesFor(x("/own"), x("/shared"), x("/1"))
			conversion := b.queuesFor(x("/held"), x("/1"), x("/node"))
			a.isRefused(x("/node"))
			other.release()
			conversion.isGranted()
		}},
		{"an owner that lets go what somebody waits for comes after that one", func(f *fixture) {
			f.actor("other").takes(x("/held"))
			a := f.actor("owner")
			h := a.takes(x("/own"))
			a.takes(x("/kept"))
			f.actor("waiter").queuesFor(x("/own"), x("/held"), x("/node"))
			a.takes(x("/node")).release()
			h.release()
			a.isRefused(x("/node"))
		}},
		{"a request that could pass a waiter comes after it when that one does not wait for its owner any more", func(f *fixture) {
			other, another := f.actor("other").takes(x("/held")), f.actor("another").takes(x("/busy"))
			a := f.actor("owner")
			h := a.takes(x("/own"))
			a.takes(x("/kept"))
			waiter := f.actor("waiter").queuesFor(x("/own"), x("/held"), x("/node"))
			p := a.queuesFor(x("/node"), x("/busy"))
			h.release()
			another.release()
			p.stillWaits()
			other.release()
			turn := waiter.isGranted()
			p.stillWaits()
			turn.release()
			p.isGranted()
		}},
		{"a request that waits for a waiter is granted when that one begins to wait for its owner", func(f *fixture) {
			f.actor("other").takes(x("/busy"))
			a, b := f.actor("owner"), f.actor("second owner")
			a.takes(x("/own"))
			h := b.takes(x("/held"))
			f.actor("first waiter").queuesFor(x("/own"), x("/held"), x("/between"))
			second := b.queuesFor(x("/between"), x("/busy"), x("/node"))
			p := a.queuesFor(x("/node"))
			p.stillWaits()
			// The second request passed the first waiter, who waited for its owner. From now on it
			// is behind that one, who waits for the first owner.
			h.release()
			p.isGranted()
			second.stillWaits()
		}},
		{"a request that waits for a waiter is granted when a third one's leaving makes that one wait for its owner", func(f *fixture) {
			f.actor("other").takes(x("/busy"))
			a, b, c := f.actor("owner"), f.actor("second owner"), f.actor("third owner")
			a.takes(x("/own"))
			b.takes(x("/held"))
			c.takes(x("/third"))
			link := c.queuesFor(x("/held"))
			f.actor("first waiter").queuesFor(x("/own"), x("/third"), x("/between"))
			second := b.queuesFor(x("/between"), x("/busy"), x("/node"))
			p := a.queuesFor(x("/node"))
			p.stillWaits()
			link.isCancelled()
			p.isGranted()
			second.stillWaits()
		}},
		{"a request that waits for a waiter alone is granted when that one gives up", func(f *fixture) {
			f.actor("other").takes(x("/held"))
			a := f.actor("owner")
			a.takes(x("/own"))
			waiter := f.actor("waiter").queuesFor(x("/held"), x("/node"))
			p := a.queuesFor(x("/node"))
			waiter.isCancelled()
			p.isGranted()
		}},
		{"who has let go everything comes after all", func(f *fixture) {
			a := f.actor("owner")
			h := a.takes(x("/own"))
			other := f.actor("other").takes(x("/busy"))
			waiter := f.actor("waiter").queuesFor(x("/own"), x("/busy"), x("/node"))
			p := a.queuesFor(x("/busy"), x("/node"))
			h.release()
			other.release()
			turn := waiter.isGranted()
			p.stillWaits()
			turn.release()
			p.isGranted()
		}},
		{"jobs that hold one place and work at another in turns don't starve one who waits: 0 grants pass it", func(f *fixture) {
			var jobs []worker
			for i := range 4 {
				job := f.actor("job")
				job.takes(s("/source"))
				jobs = append(jobs, func(n int, w *watch) error {
					return w.turn(job, job.ask(x(fmt.Sprintf("/target/%d-%d", i, n))))
				})
			}
			f.watch(jobs, x("/target/slow"), s("/target"))
		}},
		{"owners that take two locks one after the other don't starve one who waits: 0 grants pass it", func(f *fixture) {
			var transactions []worker
			for i := range 4 {
				transactions = append(transactions, func(n int, w *watch) error {
					a := f.actor("transaction")
					first := a.ask(x(fmt.Sprintf("/source/%d-%d", i, n)))
					if _, err := f.store.Acquire(f.ctx, first); err != nil {
						return err
					}
					if err := w.turn(a, a.ask(x(fmt.Sprintf("/target/%d-%d", i, n)))); err != nil {
						return err
					}
					return f.store.Release(f.ctx, f.tree, a.owner, first.Grant)
				})
			}
			f.watch(transactions, x("/target/slow"), s("/target"))
		}},
	}}
}
