package storetest

import (
	"time"

	"github.com/pathlock-go/pathlock"
)

func snapshots() topic {
	return topic{"snapshot", []promise{
		{"a holder's end is that of its lease, which all its grants share", func(f *fixture) {
			a := f.actor("holder")
			a.leases(long, x("/a"))
			a.leases(2*long, x("/b"))
			holders := f.holders(2)
			if !holders[0].Until.Equal(holders[1].Until) {
				f.Errorf("the grants end at %v and %v", holders[0].Until, holders[1].Until)
			}
			if lease := holders[1].Until.Sub(holders[1].Since); lease < 2*long-5*time.Millisecond || lease > 2*long+patience {
				f.Errorf("the lease lasts %v from the second grant, want %v", lease, 2*long)
			}
		}},
		{"it says when it was, by the clock of its times", func(f *fixture) {
			a := f.actor("holder")
			a.leases(long, x("/a"))
			a.actorIn(f.tree, "waiter").queuesFor(x("/a"))
			s := f.snapshot(f.tree)
			const tick = time.Millisecond // of the coarsest clock
			for what, e := range map[string]pathlock.Entry{"the hold": s.Holders[0], "the wait": s.Waiters[0]} {
				if lasted, left := s.Now.Sub(e.Since), e.Until.Sub(s.Now); lasted < -tick || lasted > patience || left <= 0 || left > 3*long {
					f.Errorf("%s began %v ago and has %v left", what, lasted, left)
				}
			}
			if later := f.snapshot(f.tree).Now; later.Before(s.Now) {
				f.Errorf("the next one was at %v, and this one at %v", later, s.Now)
			}
		}},
		{"notes and origins of any text come back", func(f *fixture) {
			for _, note := range []string{"", "rename", `{"quoted": "\u0000"}`, "line\nbreak", "zażółć 套件 😀", "a:b|c,d;e", "{}}{"} {
				a := f.actor(note)
				req := a.ask(x("/a"))
				req.Origin = pathlock.Origin{Operation: "rename", Route: note, RequestID: note, Trace: note}
				h := a.take(req)
				if got := f.onlyHolder(); got.Note != note || got.Origin != req.Origin {
					f.Errorf("the note %q came back as %q, and the origin as %+v", note, got.Note, got.Origin)
				}
				if b := f.actor("other").isRefused(x("/a")).Blocker; b.Note != note || b.Origin != req.Origin {
					f.Errorf("the note %q came back as %q in a conflict, and the origin as %+v", note, b.Note, b.Origin)
				}
				h.release()
			}
		}},
		{"Trees lists the trees where somebody holds or waits, and no others", func(f *fixture) {
			held, waited, released, idle := f.newTree("held "+f.tree.ID()), f.newTree("waited "+f.tree.ID()),
				f.newTree("released "+f.tree.ID()), f.newTree("idle "+f.tree.ID())
			f.actorIn(held, "holder").takes(is("/"))
			blocker := f.actorIn(waited, "blocker").takes(x("/"))
			f.actorIn(waited, "waiter").queuesFor(x("/"))
			f.actorIn(released, "past holder").takes(x("/")).release()
			f.snapshot(idle)
			if err := f.store.Ping(f.ctx); err != nil {
				f.Errorf("Ping: %v", err)
			}
			trees := f.trees()
			for tree, want := range map[pathlock.Tree]int{held: 1, waited: 1, released: 0, idle: 0} {
				got := 0
				for _, listed := range trees {
					if listed == tree {
						got++
					}
				}
				if got != want {
					f.Errorf("Trees() lists %v %d times, want %d", tree, got, want)
				}
			}
			blocker.release()
		}},
	}}
}

// holders requires that there are n grants in the test's tree, and returns them.
func (f *fixture) holders(n int) []pathlock.Entry {
	f.Helper()
	holders := f.snapshot(f.tree).Holders
	if len(holders) != n {
		f.Fatalf("holders %v, want %d", holders, n)
	}
	return holders
}

// waiters requires that n requests wait in the test's tree, and returns them.
func (f *fixture) waiters(n int) []pathlock.Entry {
	f.Helper()
	waiters := f.snapshot(f.tree).Waiters
	if len(waiters) != n {
		f.Fatalf("waiters %v, want %d", waiters, n)
	}
	return waiters
}

// onlyHolder requires that there is one grant in the test's tree, and returns it.
func (f *fixture) onlyHolder() pathlock.Entry {
	f.Helper()
	return f.holders(1)[0]
}
