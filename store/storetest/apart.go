package storetest

import (
	"time"

	"github.com/pathlock-go/pathlock"
)

// apart is about grants with a lease of their own: see [pathlock.Acquisition.Apart].
func apart() topic {
	return topic{"grants apart", []promise{
		{"its own lease ends: it alone is released, and handed over", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			began := time.Now()
			h := a.takesApart(f.short, x("/b"))
			f.actor("next").getsAfter(began.Add(f.short), x("/b"))
			f.requireIs(h.tryRelease(), pathlock.ErrNotHeld)
			f.actor("other").isRefused(x("/a"))
		}},
		{"its own renewal prolongs it alone, and no longer than its owner's lease", func(f *fixture) {
			a := f.actor("editor")
			began := time.Now()
			a.leases(3*f.short, x("/a"))
			h := a.takesApart(f.short, x("/b"))
			if h.loses(pathlock.Lease{Grant: h.id, For: long}) {
				f.Fatal("it is lost")
			}
			f.pass(f.short)
			f.actor("other").isRefused(x("/b"))
			f.actor("next").getsAfter(began.Add(3*f.short), x("/a"))
			f.actor("other").takes(x("/b"))
		}},
		{"its owner's renewal does not prolong it", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			began := time.Now()
			a.takesApart(f.short, x("/b"))
			if a.renew(long) {
				f.Fatal("the owner's lease is lost")
			}
			f.actor("next").getsAfter(began.Add(f.short), x("/b"))
			f.actor("other").isRefused(x("/a"))
		}},
		{"the renewal of one that is gone reports the owner, who holds other things", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			ended, released := a.takesApart(f.short, x("/b")), a.takesApart(long, x("/c"))
			released.release()
			f.pass(f.short)
			for what, h := range map[string]*grant{"ended": ended, "released": released} {
				if !h.loses(pathlock.Lease{Grant: h.id, For: long}) {
					f.Errorf("one that has %s is renewed", what)
				}
			}
			f.holders(1)
		}},
		{"a transfer that leaves the owner leaves it apart", func(f *fixture) {
			a := f.actor("editor")
			began := time.Now()
			first, second := a.takes(x("/a")), a.takesApart(f.short, x("/b"))
			got := a.transfers(a, long)
			if len(got.Grants) != 2 || got.Grants[0].ID != first.id || got.Grants[0].Apart || got.Grants[1].ID != second.id || !got.Grants[1].Apart {
				f.Errorf("the transfer names %+v, want both, and the second apart", got.Grants)
			}
			f.requireLeft(got, long)
			f.actor("next").getsAfter(began.Add(f.short), x("/b"))
			f.actor("other").isRefused(x("/a"))
		}},
		{"a transfer to another owner has it share that one's lease", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			a.takesApart(f.short, x("/b"))
			token := f.detached("token")
			for _, g := range a.transfers(token, long).Grants {
				if g.Apart {
					f.Errorf("%q is apart after the transfer", g.ID)
				}
			}
			f.pass(f.short)
			f.actor("other").isRefused(x("/b"))
		}},
		{"a snapshot shows when it ends: with its owner's lease at the latest", func(f *fixture) {
			a := f.actor("editor")
			a.takes(x("/a"))
			a.takesApart(long/2, x("/b"))
			a.takesApart(2*long, x("/c"))
			holders := f.holders(3)
			shared := holders[0].Until
			if until := holders[1].Until; shared.Sub(until) > long/2+5*time.Millisecond || shared.Sub(until) < long/3 {
				f.Errorf("one with half of its owner's lease ends at %v, the owner at %v", until, shared)
			}
			if until := holders[2].Until; !until.Equal(shared) {
				f.Errorf("one with a longer lease than its owner's ends at %v, the owner at %v", until, shared)
			}
		}},
		{"it needs something to be apart from", func(f *fixture) {
			a := f.actor("editor")
			req := a.askApart(long, x("/a"))
			_, err := f.store.Acquire(f.ctx, req)
			f.requireIs(err, pathlock.ErrLost)
		}},
	}}
}

// askApart returns a request for a grant that is apart, which does not wait.
func (a *actor) askApart(lease time.Duration, claims ...pathlock.Claim) pathlock.Acquisition {
	req := a.ask(claims...)
	req.Apart, req.Held, req.Lease = true, true, lease
	return req
}

// takesApart requires that claims are granted at once, with a lease of their own.
func (a *actor) takesApart(lease time.Duration, claims ...pathlock.Claim) *grant {
	a.Helper()
	return a.take(a.askApart(lease, claims...))
}

// getsAfter requires that claims are handed over when a lease has ended, not before. On a busy
// machine it may have ended when they are asked for.
func (a *actor) getsAfter(ends time.Time, claims ...pathlock.Claim) {
	a.Helper()
	req := a.ask(claims...)
	req.Wait = long
	p := a.start(a.ctx, req)
	p.isGranted()
	if early := ends.Sub(p.ended); early > 5*time.Millisecond {
		a.Errorf("%s is granted %v %v before the lease has ended", a.name, claims, early)
	}
}
