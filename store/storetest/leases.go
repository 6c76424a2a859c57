package storetest

import (
	"time"

	"github.com/pathlock-go/pathlock"
)

func leases() topic {
	return topic{"leases", []promise{
		{"a lease that ended keeps nobody out, though nobody waited for it, and fences grow", func(f *fixture) {
			crashed := f.actor("crashed writer").leases(f.short, x("/a"))
			f.pass(f.short)
			f.requireEmpty(f.tree)
			if next := f.actor("writer").takes(x("/a")); next.fence <= crashed.fence {
				f.Errorf("fence %d after %d", next.fence, crashed.fence)
			}
			f.requireIs(crashed.tryRelease(), pathlock.ErrNotHeld)
			if !crashed.renew(long) {
				f.Error("a lease that ended is renewed")
			}
		}},
		{"an owner whose lease ends while it waits for more is told ErrLost", func(f *fixture) {
			other := f.actor("other").takes(x("/b"))
			sleeper := f.actor("sleeper")
			sleeper.leases(f.short, x("/a"))
			p := sleeper.queuesFor(x("/b"))
			f.requireIs(p.fails(), pathlock.ErrLost)
			f.waiters(0)
			other.release()
			f.pass(f.short) // the leases of a store with several servers need not end at once
			f.requireEmpty(f.tree)
		}},
		{"a lease lives for as long as was asked, from Grant.Asked on", func(f *fixture) {
			a := f.actor("holder")
			before := time.Now()
			h := a.takes(x("/a"))
			a.requireAsked(h, long, before)
		}},
		{"a waiter's lease runs from its last sign of life, which Grant.Asked tells, and from no later than the grant", func(f *fixture) {
			holder := f.actor("holder").takes(x("/a"))
			waiter := f.actor("waiter")
			// A waiter asks again after a part of its lease, which would be a later sign of life.
			req := waiter.ask(x("/a"))
			req.Lease = long
			before := time.Now()
			p := waiter.queue(f.ctx, req)
			began := f.waiters(1)[0].Since
			f.pass(f.short)
			holder.release()
			granted := p.isGranted()
			h := f.onlyHolder()
			if waited := h.Since.Sub(began); waited < f.short-5*time.Millisecond {
				f.Errorf("the grant is %v later than the request, want at least %v", waited, f.short)
			}
			if lease := h.Until.Sub(h.Since); lease > req.Lease+5*time.Millisecond {
				f.Errorf("the lease lasts %v from the grant, want at most %v", lease, req.Lease)
			}
			waiter.requireAsked(granted, req.Lease, before)
		}},
		{"many who wait longer than their leases all get a lock whose lease lives", func(f *fixture) {
			const crowd = 20
			lease := 3 * f.short
			before := time.Now()
			holder := f.actor("holder").takes(x("/a"))
			var waits []*pending
			for range crowd {
				a := f.actor("waiter")
				req := a.ask(x("/a"))
				req.Lease = lease
				waits = append(waits, a.queue(f.ctx, req))
			}
			f.pass(lease + f.short)
			holder.release()
			for _, p := range waits {
				h := p.isGranted()
				if age := p.ended.Sub(h.asked); age >= lease {
					f.Errorf("the grant was asked for %v before it came, which is longer than the lease of %v: nobody can believe it", age, lease)
				}
				p.requireAsked(h, lease, before)
				h.release()
			}
		}},
		{"a renewed lease outlives its first end", func(f *fixture) {
			a := f.actor("holder")
			a.leases(2*f.short, x("/a"))
			if a.renew(long) {
				f.Fatal("the lease is lost")
			}
			f.pass(2 * f.short)
			f.actor("other").isRefused(x("/a"))
		}},
		{"a renewal lasts from now, and never shortens", func(f *fixture) {
			a := f.actor("holder")
			a.takes(x("/a"))
			before := f.onlyHolder().Until
			if a.renew(time.Millisecond) {
				f.Fatal("the lease is lost")
			}
			if after := f.onlyHolder().Until; after.Before(before) {
				f.Errorf("the lease ended at %v, and after a shorter renewal at %v", before, after)
			}
			a.renew(2 * long)
			if gained := f.onlyHolder().Until.Sub(before); gained < long-5*time.Millisecond || gained > long+patience {
				f.Errorf("a renewal for %v moved the end by %v", 2*long, gained)
			}
		}},
		{"a shared holder crashes while another renews and then releases", func(f *fixture) {
			f.actor("crashed reader").leases(f.short, s("/a"))
			a := f.actor("reader")
			reader := a.takes(s("/a"))
			writer := f.actor("writer").queuesFor(x("/a"))
			for range 2 {
				f.pass(f.short)
				if a.renew(long) {
					f.Fatal("the lease is lost")
				}
				writer.stillWaits()
			}
			reader.release()
			writer.isGranted()
		}},
	}}
}

// leases requires that claims are granted at once, with a lease of d.
func (a *actor) leases(d time.Duration, claims ...pathlock.Claim) *grant {
	a.Helper()
	req := a.ask(claims...)
	req.Lease = d
	return a.take(req)
}

// requireAsked checks what a grant tells of the moment from which its lease is certain to live,
// given one before the request.
func (a *actor) requireAsked(h *grant, lease time.Duration, before time.Time) {
	a.Helper()
	asking := time.Now()
	left := a.transfers(a, 0).Left
	answered := time.Now()
	asked := h.asked
	switch {
	case asked.IsZero():
		asked = before
	case asked.Before(before):
		a.Errorf("the grant was asked for %v before its request", before.Sub(asked))
	case asked.After(answered):
		a.Errorf("the grant was asked for %v after it came", asked.Sub(answered))
	}
	// A store takes from what is left however long the question may have been under way.
	question := answered.Sub(asking)
	if early := asked.Add(lease).Sub(answered.Add(left)); early > question+5*time.Millisecond {
		a.Errorf("the lease ends %v before what was promised: %v from when it was asked for", early, lease)
	}
}
