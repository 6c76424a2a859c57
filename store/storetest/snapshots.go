package storetest

import (
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

func snapshots() topic {
	return topic{"snapshot", []promise{
		{"of a tree that nobody uses it is empty", func(f *fixture) {
			snap := f.snapshot(f.tree)
			if snap.Tree != f.tree {
				f.Errorf("the snapshot is of %v, want %v", snap.Tree, f.tree)
			}
			f.requireEmpty(f.tree)
		}},
		{"it has one entry per grant, in order of their fences", func(f *fixture) {
			a, b := f.actor("a"), f.actor("b")
			grants := []*held{a.takes(x("/z")), b.takes(s("/y")), a.takes(x("/x"))}
			want := []claims{{x("/z")}, {s("/y")}, {x("/x")}}
			snap := f.snapshot(f.tree)
			if len(snap.Holders) != len(grants) {
				f.Fatalf("holders %v, want %d", snap.Holders, len(grants))
			}
			for i, h := range snap.Holders {
				f.requireHold(h, grants[i].actor, false, want[i])
				if h.Fence != grants[i].fence {
					f.Errorf("holder %d has the fence %d, want %d", i, h.Fence, grants[i].fence)
				}
			}
			if snap.Fence != grants[2].fence {
				f.Errorf("the last fence is %d, want %d", snap.Fence, grants[2].fence)
			}
		}},
		{"it has one entry per waiter, in order of arrival", func(f *fixture) {
			f.actor("holder").takes(x("/"))
			var queue []*pending
			for _, path := range []string{"/c", "/a", "/b"} {
				queue = append(queue, f.actor("waiter for "+path).queuesFor(x(path)))
			}
			waiters := f.waiters(len(queue))
			for i, path := range []string{"/c", "/a", "/b"} {
				f.requireHold(waiters[i], queue[i].actor, false, claims{x(path)})
				if waiters[i].Fence != 0 {
					f.Errorf("a waiter has the fence %d", waiters[i].Fence)
				}
			}
		}},
		{"it shows the gate, held and waited for", func(f *fixture) {
			a, b := f.actor("migration"), f.actor("next migration")
			a.takesGate()
			b.queuesForGate()
			snap := f.snapshot(f.tree)
			if len(snap.Holders) != 1 || len(snap.Waiters) != 1 {
				f.Fatalf("holders %v, waiters %v, want one of each", snap.Holders, snap.Waiters)
			}
			f.requireHold(snap.Holders[0], a, true, nil)
			f.requireHold(snap.Waiters[0], b, true, nil)
		}},
		{"a waiter that is granted becomes a holder", func(f *fixture) {
			h := f.actor("holder").takes(x("/a"))
			waiter := f.actor("waiter").queuesFor(x("/a"))
			h.release()
			granted := waiter.isGranted()
			snap := f.snapshot(f.tree)
			if len(snap.Holders) != 1 || len(snap.Waiters) != 0 {
				f.Fatalf("holders %v, waiters %v, want one holder", snap.Holders, snap.Waiters)
			}
			f.requireHold(snap.Holders[0], granted.actor, false, claims{x("/a")})
		}},
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
		{"notes of any text come back", func(f *fixture) {
			for _, note := range []string{"", "rename", `{"quoted": "\u0000"}`, "line\nbreak", "zażółć 套件 😀", "a:b|c,d;e", "{}}{"} {
				a := f.actor(note)
				h := a.takes(x("/a"))
				if got := f.onlyHolder().Note; got != note {
					f.Errorf("the note %q came back as %q", note, got)
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
			trees := f.trees()
			for tree, want := range map[pathlock.Tree]bool{held: true, waited: true, released: false, idle: false} {
				if got := slices.Contains(trees, tree); got != want {
					f.Errorf("Trees() lists %v: %v, want %v", tree, got, want)
				}
			}
			slices.SortFunc(trees, func(a, b pathlock.Tree) int {
				if a.String() < b.String() {
					return -1
				}
				return 1
			})
			if n := len(slices.Compact(trees)); n != len(trees) {
				f.Errorf("Trees() lists some trees twice: %v", trees)
			}
			blocker.release()
		}},
		{"Trees forgets a tree whose last lease ended", func(f *fixture) {
			f.actor("crashed").leases(f.short, x("/a"))
			if !slices.Contains(f.trees(), f.tree) {
				f.Errorf("Trees() does not list %v, where somebody holds", f.tree)
			}
			f.pass(f.short)
			if slices.Contains(f.trees(), f.tree) {
				f.Errorf("Trees() lists %v, where all leases have ended", f.tree)
			}
		}},
		{"Ping answers", func(f *fixture) {
			if err := f.store.Ping(f.ctx); err != nil {
				f.Errorf("Ping: %v", err)
			}
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

// requireHold checks what an entry of a snapshot says of an actor's claims.
func (f *fixture) requireHold(h pathlock.Entry, a *actor, gate bool, set claims) {
	f.Helper()
	if h.Owner != a.owner || h.Note != a.name || h.Gate != gate {
		f.Errorf("entry of %q (%q), gate %v; want %q (%q), gate %v", h.Owner, h.Note, h.Gate, a.owner, a.name, gate)
	}
	if want := pathlock.Normalize(set...); !slices.Equal(h.Claims, want) {
		f.Errorf("%s: claims %v, want %v", a.name, h.Claims, want)
	}
	if h.Since.IsZero() || !h.Until.After(h.Since) {
		f.Errorf("%s: since %v until %v", a.name, h.Since, h.Until)
	}
}
