package redisstore

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// takeThin requires that a request is granted as a thin lock.
func takeThin(t *testing.T, s *Store, req pathlock.Acquisition) pathlock.Grant {
	t.Helper()
	grant := take(t, s, req)
	requireThin(t, s, req.Tree)
	return grant
}

func requireThin(t *testing.T, s *Store, tree pathlock.Tree) {
	t.Helper()
	keys := s.keys.of(tree)
	if got, want := keysOf(t, s, tree), []string{keys[3], s.keys.thin(tree)}; !slices.Equal(got, want) {
		t.Fatalf("the keys are %v, want the fence and the thin lock", got)
	}
}

// requireInflated requires that the lock of a tree has become one like all others.
func requireInflated(t *testing.T, s *Store, tree pathlock.Tree) {
	t.Helper()
	if there := keysOf(t, s, tree); slices.Contains(there, s.keys.thin(tree)) {
		t.Errorf("the keys are %v, want the lock inflated", there)
	}
	requireConsistent(t, s, tree)
}

// TestSuccessor: a release to the only one who waits leaves a thin lock, whose lease begins with
// the waiter's last sign of life.
func TestSuccessor(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	first := ask(tree, x("/a"))
	before := take(t, store, first)
	next := ask(tree, ix("/"), x("/a/b"))
	next.Lease = long
	waiter := queue(t, store, next)
	queued := time.Now()
	pass(t, store, short)
	release(t, store, first)
	grant := waiter.granted()
	if grant.Fence <= before.Fence {
		t.Errorf("fence %d after %d", grant.Fence, before.Fence)
	}
	requireThin(t, store, tree)
	holder := theHolder(t, store, tree)
	if holder.Owner != next.Owner || holder.Fence != grant.Fence || holder.Until.After(queued.Add(long+short/2)) {
		t.Errorf("holder %+v, want the waiter with fence %d until %v", holder, grant.Fence, queued.Add(long))
	}
	release(t, store, next)
	requireFree(t, store, tree)
}

// theHolder returns the only holder in a tree, where nobody waits.
func theHolder(t *testing.T, s *Store, tree pathlock.Tree) pathlock.Entry {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context(), tree)
	if err != nil || len(snapshot.Holders) != 1 || len(snapshot.Waiters) != 0 {
		t.Fatalf("snapshot %+v, error %v; want one holder", snapshot, err)
	}
	return snapshot.Holders[0]
}

// requireFree requires that a tree has nothing left but its fence.
func requireFree(t *testing.T, s *Store, tree pathlock.Tree) {
	t.Helper()
	if left := keysLeft(t, s, tree); len(left) > 1 {
		t.Errorf("left behind: %v, want the fence alone", left)
	}
}

// requireHeld requires that an owner has the given grants, and nobody else anything.
func requireHeld(t *testing.T, s *Store, want ...pathlock.Acquisition) {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context(), want[0].Tree)
	if err != nil {
		t.Fatal(err)
	}
	var got, wanted []string
	for _, h := range snapshot.Holders {
		got = append(got, fmt.Sprint(h.Owner, h.Gate, h.Claims))
	}
	for _, req := range want {
		wanted = append(wanted, fmt.Sprint(req.Owner, req.Gate, req.Claims))
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("held: %v, want %v", got, wanted)
	}
}

// requireConflict requires that a request is refused.
func requireConflict(t *testing.T, s *Store, req pathlock.Acquisition) {
	t.Helper()
	_ = conflictOf(t, s, req)
}

// conflictOf requires that a request is refused, and returns how.
func conflictOf(t *testing.T, s *Store, req pathlock.Acquisition) *pathlock.ConflictError {
	t.Helper()
	_, err := s.Acquire(t.Context(), req)
	var conflict *pathlock.ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("acquire %v: %v, want a conflict", req.Claims, err)
	}
	return conflict
}

// TestThin: who is alone in a tree has a thin lock, and whoever comes by finds a lock like all
// others.
func TestThin(t *testing.T) {
	for _, tt := range []struct {
		name string
		// meet does something in the tree of a thin lock on /a/b, which is held in the end.
		meet func(t *testing.T, s *Store, held pathlock.Acquisition, grant pathlock.Grant)
	}{
		{"a request that it keeps out", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			conflict := conflictOf(t, s, ask(held.Tree, x("/a")))
			if b := conflict.Blocker; b.Owner != held.Owner || b.Note != held.Note || b.Mode != pathlock.ModeIX || conflict.Path != path("/a") || conflict.Mode != pathlock.ModeX {
				t.Errorf("conflict %+v, want the thin lock's owner in the way of /a", conflict)
			}
			requireInflated(t, s, held.Tree)
		}},
		{"a request that waits for it", func(t *testing.T, s *Store, held pathlock.Acquisition, grant pathlock.Grant) {
			w := queue(t, s, ask(held.Tree, x("/a/b")))
			requireInflated(t, s, held.Tree)
			release(t, s, held)
			if after := w.granted(); after.Fence <= grant.Fence {
				t.Errorf("fence %d after %d", after.Fence, grant.Fence)
			}
			release(t, s, w.req)
			take(t, s, held)
		}},
		{"a request beside it", func(t *testing.T, s *Store, held pathlock.Acquisition, grant pathlock.Grant) {
			beside := ask(held.Tree, x("/a/c"), is("/a"))
			if after := take(t, s, beside); after.Fence <= grant.Fence {
				t.Errorf("fence %d after %d", after.Fence, grant.Fence)
			}
			requireInflated(t, s, held.Tree)
			requireHeld(t, s, held, beside)
			requireConflict(t, s, ask(held.Tree, is("/a/b")))
			requireConflict(t, s, ask(held.Tree, is("/a/c")))
			release(t, s, beside)
		}},
		{"a further request of its owner", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			further := more(held, x("/a"))
			further.Held = true
			take(t, s, further)
			requireInflated(t, s, held.Tree)
			requireHeld(t, s, held, further)
			release(t, s, further)
			requireHeld(t, s, held)
		}},
		{"the same request again", func(t *testing.T, s *Store, held pathlock.Acquisition, grant pathlock.Grant) {
			for range 2 {
				if again := take(t, s, held); again.Fence != grant.Fence {
					t.Errorf("granted with %+v, and then with %+v", grant, again)
				}
				requireHeld(t, s, held)
			}
		}},
		{"the same request again, by one who knows of the grant", func(t *testing.T, s *Store, held pathlock.Acquisition, grant pathlock.Grant) {
			held.Held = true
			if again := take(t, s, held); again.Fence != grant.Fence {
				t.Errorf("granted with %+v, and then with %+v", grant, again)
			}
		}},
		{"a renewal", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			leases := []pathlock.Lease{{Owner: "nobody", For: long}, {Owner: held.Owner, For: 3 * long}}
			if lost, err := s.Renew(t.Context(), held.Tree, leases); err != nil || !slices.Equal(lost, []pathlock.Owner{"nobody"}) {
				t.Errorf("lost %v, error %v; want nobody's lease lost", lost, err)
			}
			requireInflated(t, s, held.Tree)
			requireLease(t, s, held, 2*long)
		}},
		{"a renewal for less than it has", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			if lost, err := s.Renew(t.Context(), held.Tree, []pathlock.Lease{{Owner: held.Owner, For: short}}); err != nil || len(lost) > 0 {
				t.Errorf("lost %v, error %v", lost, err)
			}
			requireLease(t, s, held, long/2)
		}},
		{"a request for the gate", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			if conflict := conflictOf(t, s, askGate(held.Tree)); !conflict.Gate || conflict.Blocker.Owner != held.Owner {
				t.Errorf("conflict %+v, want the thin lock's owner in the way of the gate", conflict)
			}
			gate := queue(t, s, askGate(held.Tree))
			requireConflict(t, s, ask(held.Tree, x("/c")))
			release(t, s, held)
			gate.granted()
			release(t, s, gate.req)
			take(t, s, held)
		}},
		{"its owner's request for the gate", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			gate := more(held)
			gate.Gate, gate.Claims = true, nil
			take(t, s, gate)
			requireInflated(t, s, held.Tree)
			release(t, s, gate)
			requireHeld(t, s, held)
		}},
		{"another program's redislock on the gate", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			lock := obtain(t, s, held.Tree, long)
			if conflict := conflictOf(t, s, ask(held.Tree, x("/c"))); !conflict.Blocker.Gate {
				t.Errorf("conflict %+v, want the other program's gate in the way", conflict)
			}
			further := more(held, x("/c"))
			take(t, s, further)
			release(t, s, further)
			if err := lock.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}},
		{"a release of another grant", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			for _, other := range []pathlock.Acquisition{more(held, x("/a")), ask(held.Tree, x("/a"))} {
				if err := s.Release(t.Context(), held.Tree, other.Owner, other.Grant); !errors.Is(err, pathlock.ErrNotHeld) {
					t.Errorf("release: %v, want ErrNotHeld", err)
				}
			}
		}},
		{"a release by another owner", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			if err := s.Release(t.Context(), held.Tree, "another", held.Grant); !errors.Is(err, pathlock.ErrNotHeld) {
				t.Errorf("release: %v, want ErrNotHeld", err)
			}
		}},
		{"another's forced release", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			if err := s.ForceRelease(t.Context(), held.Tree, "nobody"); !errors.Is(err, pathlock.ErrNotHeld) {
				t.Errorf("forced release: %v, want ErrNotHeld", err)
			}
		}},
		{"a forced release", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			if err := s.ForceRelease(t.Context(), held.Tree, held.Owner); err != nil {
				t.Fatal(err)
			}
			requireFree(t, s, held.Tree)
			held.Held = true
			if _, err := s.Acquire(t.Context(), held); !errors.Is(err, pathlock.ErrLost) {
				t.Errorf("acquire by one who believes to hold something: %v, want ErrLost", err)
			}
			held.Held = false
			takeThin(t, s, held)
		}},
		{"its withdrawal", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			if err := s.withdraw(t.Context(), keyOf(held), 0); err != nil {
				t.Fatal(err)
			}
			requireFree(t, s, held.Tree)
			takeThin(t, s, held)
		}},
		{"another's withdrawal", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			if err := s.withdraw(t.Context(), keyOf(more(held)), 0); err != nil {
				t.Fatal(err)
			}
		}},
		{"a snapshot", func(t *testing.T, s *Store, held pathlock.Acquisition, grant pathlock.Grant) {
			for _, state := range []string{"thin", "inflated"} {
				snapshot, err := s.Snapshot(t.Context(), held.Tree)
				if err != nil || len(snapshot.Holders) != 1 || len(snapshot.Waiters) != 0 {
					t.Fatalf("%s: snapshot %+v, error %v; want one holder", state, snapshot, err)
				}
				h := snapshot.Holders[0]
				if h.Owner != held.Owner || h.Note != held.Note || h.Gate || h.Fence != grant.Fence || snapshot.Fence != grant.Fence || !slices.Equal(h.Claims, held.Claims) {
					t.Errorf("%s: shown as %+v, want %+v with fence %d", state, h, held, grant.Fence)
				}
				// Both times are whole milliseconds of the server's clock.
				if lease := h.Until.Sub(h.Since); lease < held.Lease || lease > held.Lease+held.Lease/10 {
					t.Errorf("%s: a lease of %v, want %v", state, lease, held.Lease)
				}
			}
		}},
		{"a list of trees", func(t *testing.T, s *Store, held pathlock.Acquisition, _ pathlock.Grant) {
			trees, err := s.Trees(t.Context())
			if err != nil || !slices.Contains(trees, held.Tree) {
				t.Errorf("the tree is not among %d, error %v", len(trees), err)
			}
			requireThin(t, s, held.Tree)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := newStore(t)
			held := ask(newTree(t), x("/a/b"))
			tt.meet(t, store, held, takeThin(t, store, held))
			requireHeld(t, store, held)
			release(t, store, held)
			requireFree(t, store, held.Tree)
			takeThin(t, store, held)
			release(t, store, held)
			requireFree(t, store, held.Tree)
		})
	}
}
