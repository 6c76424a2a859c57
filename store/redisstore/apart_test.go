package redisstore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// apart returns a further request of req's owner, with a lease of its own.
func apart(req pathlock.Acquisition, lease time.Duration, claims ...pathlock.Claim) pathlock.Acquisition {
	req = more(req, claims...)
	req.Held, req.Apart, req.Lease = true, true, lease
	return req
}

// holders returns when the grants of a tree end, by their notes.
func holders(t *testing.T, s *Store, tree pathlock.Tree) map[string]time.Duration {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]time.Duration{}
	for _, h := range snapshot.Holders {
		ends[h.Note] = time.Until(h.Until)
	}
	return ends
}

// requireEnd fails the test unless the grant with a note lasts for a lease that has begun in the
// course of the test.
func requireEnd(t *testing.T, s *Store, tree pathlock.Tree, note string, lease time.Duration) {
	t.Helper()
	if left, ok := holders(t, s, tree)[note]; !ok || left > lease+time.Second || left < lease-patience {
		t.Errorf("%s ends in %v (%v), want %v", note, left, ok, lease)
	}
}

// renewed calls Renew for one lease and reports whether it is alive.
func renewed(t *testing.T, s *Store, tree pathlock.Tree, lease pathlock.Lease) bool {
	t.Helper()
	lost, err := s.Renew(t.Context(), tree, []pathlock.Lease{lease})
	if err != nil {
		t.Fatal(err)
	}
	return len(lost) == 0
}

// TestApartGrantEndsAlone: where the lease of an apart grant ends, who waits for it is let in, and
// the owner keeps the rest.
func TestApartGrantEndsAlone(t *testing.T) {
	for _, gate := range []bool{false, true} {
		t.Run(fmt.Sprintf("gate=%v", gate), func(t *testing.T) {
			store, tree := newStore(t), newTree(t)
			shared := ask(tree, x("/a"))
			shared.Note = "shared"
			take(t, store, shared)
			own := apart(shared, short, x("/b"))
			own.Note, own.Gate = "own", gate
			take(t, store, own)
			requireEnd(t, store, tree, "shared", long)
			requireEnd(t, store, tree, "own", short)
			requireConsistent(t, store, tree)
			if !renewed(t, store, tree, pathlock.Lease{Owner: shared.Owner, For: long}) {
				t.Fatal("the owner's lease is lost")
			}
			queue(t, store, ask(tree, x("/b/c"))).granted()
			if ends := holders(t, store, tree); len(ends) != 2 || ends["shared"] == 0 {
				t.Errorf("held are %v, want the shared grant and the waiter's", ends)
			}
			if renewed(t, store, tree, pathlock.Lease{Owner: shared.Owner, Grant: own.Grant, For: long}) {
				t.Error("a renewal does not report that the apart grant is gone")
			}
			if !renewed(t, store, tree, pathlock.Lease{Owner: shared.Owner, For: long}) {
				t.Error("the owner's lease is lost")
			}
			requireConsistent(t, store, tree)
			release(t, store, shared)
		})
	}
}

// TestApartGrantIsProlonged: by a renewal of its own, and by the same request again; never the
// owner's lease.
func TestApartGrantIsProlonged(t *testing.T) {
	for name, prolong := range map[string]func(*testing.T, *Store, pathlock.Acquisition){
		"renewal": func(t *testing.T, s *Store, own pathlock.Acquisition) {
			if !renewed(t, s, own.Tree, pathlock.Lease{Owner: own.Owner, Grant: own.Grant, For: 3 * long}) {
				t.Error("the grant is lost")
			}
		},
		"the same request": func(t *testing.T, s *Store, own pathlock.Acquisition) {
			own.Lease = 3 * long
			take(t, s, own)
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, tree := newStore(t), newTree(t)
			shared := ask(tree, x("/a"))
			shared.Note, shared.Lease = "shared", 2*long
			take(t, store, shared)
			own := apart(shared, long, x("/b"))
			own.Note, own.Gate = "own", true
			take(t, store, own)
			prolong(t, store, own)
			requireEnd(t, store, tree, "shared", 2*long)
			requireEnd(t, store, tree, "own", 2*long) // it ends with the owner's
			if ttl := store.client.PTTL(t.Context(), store.keys.gate(tree)).Val(); ttl > 2*long+time.Second || ttl < 2*long-patience {
				t.Errorf("the gate key lives for %v, want %v", ttl, 2*long)
			}
			renewed(t, store, tree, pathlock.Lease{Owner: own.Owner, For: 4 * long})
			requireEnd(t, store, tree, "own", 3*long)
			requireConsistent(t, store, tree)
			release(t, store, shared)
			release(t, store, own)
			if keys := keysOf(t, store, tree); len(keys) != 1 {
				t.Errorf("left behind: %v, want the fence alone", keys)
			}
		})
	}
}

// TestApartGrantsEndWithTheOwner: by force, or by the end of the shared lease.
func TestApartGrantsEndWithTheOwner(t *testing.T) {
	for _, force := range []bool{false, true} {
		store, tree := newStore(t), newTree(t)
		shared := ask(tree, x("/a"))
		shared.Lease = short
		if force {
			shared.Lease = long
		}
		take(t, store, shared)
		take(t, store, apart(shared, 2*long, x("/b")))
		waiter := queue(t, store, ask(tree, x("/b")))
		if force {
			if err := store.ForceRelease(t.Context(), tree, shared.Owner); err != nil {
				t.Fatal(err)
			}
		}
		waiter.granted()
		requireConsistent(t, store, tree)
		release(t, store, waiter.req)
		if keys := keysOf(t, store, tree); len(keys) != 1 {
			t.Errorf("force %v: left behind: %v, want the fence alone", force, keys)
		}
	}
}

// TestApartGrantBesideAnEarlierGate: the gate key lives as long as the last of the owner's grants
// of the gate.
func TestApartGrantBesideAnEarlierGate(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	shared := askGate(tree)
	shared.Lease = long
	take(t, store, shared)
	own := apart(shared, short, x("/b"))
	own.Gate = true
	take(t, store, own)
	pass(t, store, short)
	if !renewed(t, store, tree, pathlock.Lease{Owner: shared.Owner, For: long}) {
		t.Error("the gate is lost with the apart grant")
	}
	requireConsistent(t, store, tree)
	release(t, store, shared)
}

// TestApartGrantOfWaiter: a request that has waited is granted apart, and its lease begins with the
// last sign of life.
func TestApartGrantOfWaiter(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	other, shared := ask(tree, x("/b")), ask(tree, x("/a"))
	take(t, store, other)
	shared.Note = "shared"
	take(t, store, shared)
	own := apart(shared, long/2, x("/b"))
	own.Note = "own"
	waiter := queue(t, store, own)
	requireConsistent(t, store, tree)
	release(t, store, other)
	waiter.granted()
	requireEnd(t, store, tree, "shared", long)
	requireEnd(t, store, tree, "own", long/2)
	requireConsistent(t, store, tree)
}

// TestTransferOfApartGrants: they stay apart where the owner stays, and share the new owner's lease
// where not.
func TestTransferOfApartGrants(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	shared := ask(tree, x("/a"))
	take(t, store, shared)
	own := apart(shared, long/2, x("/b"))
	own.Note = "own"
	take(t, store, own)
	if got := give(t, store, shared, shared, 2*long); len(got.Grants) != 2 || got.Grants[0].Apart || !got.Grants[1].Apart {
		t.Errorf("transferred %+v, want the second grant apart", got.Grants)
	}
	requireEnd(t, store, tree, "own", long/2)
	heir := ask(tree)
	if got := give(t, store, shared, heir, 2*long); len(got.Grants) != 2 || got.Grants[0].Apart || got.Grants[1].Apart {
		t.Errorf("transferred %+v, want no grant apart", got.Grants)
	}
	requireEnd(t, store, tree, "own", 2*long)
	requireConsistent(t, store, tree)
}

// TestApartGrantsThatEndTogether: more than one script reclaims have ended, and none of them is
// held, renewed or given to another.
func TestApartGrantsThatEndTogether(t *testing.T) {
	for name, act := range map[string]func(*testing.T, *Store, pathlock.Acquisition, pathlock.Acquisition){
		"renew": func(t *testing.T, s *Store, shared, own pathlock.Acquisition) {
			if renewed(t, s, own.Tree, pathlock.Lease{Owner: own.Owner, Grant: own.Grant, For: long}) {
				t.Error("a grant that has ended is renewed")
			}
		},
		"release": func(t *testing.T, s *Store, shared, own pathlock.Acquisition) {
			if err := s.Release(t.Context(), own.Tree, own.Owner, own.Grant); !errors.Is(err, pathlock.ErrNotHeld) {
				t.Errorf("release: %v, want ErrNotHeld", err)
			}
		},
		"transfer": func(t *testing.T, s *Store, shared, own pathlock.Acquisition) {
			if got := give(t, s, shared, ask(own.Tree), long); len(got.Grants) != 1 {
				t.Errorf("%d grants are transferred, want the shared one", len(got.Grants))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, tree := newStore(t), newTree(t)
			shared := ask(tree, x("/a"))
			shared.Note = "shared"
			take(t, store, shared)
			var own pathlock.Acquisition
			for i := range 60 {
				own = apart(shared, 2*short, x(fmt.Sprint("/b/", i)))
				take(t, store, own)
			}
			pass(t, store, 2*short)
			act(t, store, shared, own)
			if ends := holders(t, store, tree); len(ends) != 1 {
				t.Errorf("held are %v, want the shared grant", ends)
			}
			visit(t, store, tree)
			requireConsistent(t, store, tree)
		})
	}
}

// TestRefreshToAnEarlierEnd: who waits is let in at the new end, not at its next heartbeat.
func TestRefreshToAnEarlierEnd(t *testing.T) {
	for _, gate := range []bool{false, true} {
		store, tree := newStore(t), newTree(t)
		holder, next := ask(tree, x("/a")), ask(tree, x("/a"))
		holder.Lease = 20 * long
		next.Lease, next.Wait, next.Gate = 20*long, 20*long, gate
		take(t, store, holder)
		waiter := queue(t, store, next)
		give(t, store, holder, holder, short)
		waiter.granted()
		requireConsistent(t, store, tree)
	}
}

// TestWaiterWhoseOwnerReleases: a request of an owner who gave back in good order all that it held
// keeps its place.
func TestWaiterWhoseOwnerReleases(t *testing.T) {
	for _, isApart := range []bool{false, true} {
		store, tree := newStore(t), newTree(t)
		other, mine := ask(tree, x("/b")), ask(tree, x("/a"))
		take(t, store, other)
		take(t, store, mine)
		further := more(mine, x("/b"))
		further.Held, further.Apart, further.Lease = true, isApart, 3*short
		waiter := queue(t, store, further)
		release(t, store, mine)
		pass(t, store, 6*short) // heartbeats
		select {
		case <-waiter.over:
			t.Fatalf("apart %v: the wait ended with %v", isApart, waiter.err)
		default:
		}
		release(t, store, other)
		waiter.granted()
		if !renewed(t, store, tree, pathlock.Lease{Owner: mine.Owner, Grant: further.Grant, For: long}) {
			t.Errorf("apart %v: the grant cannot be renewed", isApart)
		}
		requireConsistent(t, store, tree)
		release(t, store, further)
	}
}
