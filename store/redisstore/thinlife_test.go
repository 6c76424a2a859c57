package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// requireLease requires that an owner's lease lasts for longer than least.
func requireLease(t *testing.T, s *Store, held pathlock.Acquisition, least time.Duration) {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context(), held.Tree)
	if err != nil || len(snapshot.Holders) == 0 {
		t.Fatalf("snapshot %+v, error %v; want a holder", snapshot, err)
	}
	if left := time.Until(snapshot.Holders[0].Until); left < least {
		t.Errorf("the lease lasts for %v, want %v at least", left, least)
	}
}

// TestThinLeaseEnds: a thin lock goes with its lease, whoever comes by then.
func TestThinLeaseEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		meet func(t *testing.T, s *Store, held pathlock.Acquisition)
	}{
		{"nobody", func(*testing.T, *Store, pathlock.Acquisition) {}},
		{"another request", func(t *testing.T, s *Store, held pathlock.Acquisition) {
			next := ask(held.Tree, x("/a"))
			takeThin(t, s, next)
			release(t, s, next)
		}},
		{"its release", func(t *testing.T, s *Store, held pathlock.Acquisition) {
			if err := s.Release(t.Context(), held.Tree, held.Owner, held.Grant); !errors.Is(err, pathlock.ErrNotHeld) {
				t.Errorf("release: %v, want ErrNotHeld", err)
			}
		}},
		{"its renewal", func(t *testing.T, s *Store, held pathlock.Acquisition) {
			lost, err := s.Renew(t.Context(), held.Tree, []pathlock.Lease{{Owner: held.Owner, For: long}})
			if err != nil || !slices.Equal(lost, []pathlock.Owner{held.Owner}) {
				t.Errorf("lost %v, error %v; want it lost", lost, err)
			}
		}},
		{"a further request of its owner", func(t *testing.T, s *Store, held pathlock.Acquisition) {
			further := more(held, x("/b"))
			further.Held = true
			if _, err := s.Acquire(t.Context(), further); !errors.Is(err, pathlock.ErrLost) {
				t.Errorf("acquire: %v, want ErrLost", err)
			}
		}},
		{"a snapshot", func(t *testing.T, s *Store, held pathlock.Acquisition) {
			if snapshot, err := s.Snapshot(t.Context(), held.Tree); err != nil || len(snapshot.Holders) > 0 {
				t.Errorf("held by %v, error %v; want nobody", snapshot.Holders, err)
			}
		}},
		{"a list of trees", func(t *testing.T, s *Store, held pathlock.Acquisition) {
			if trees, err := s.Trees(t.Context()); err != nil || slices.Contains(trees, held.Tree) {
				t.Errorf("the tree is listed, or error %v", err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			held := ask(newTree(t), x("/a"))
			held.Lease = short
			takeThin(t, store, held)
			pass(t, store, 2*short)
			tt.meet(t, store, held)
			requireFree(t, store, held.Tree)
		})
	}
	t.Run("a request that waits", func(t *testing.T) {
		t.Parallel()
		store := newStore(t)
		held := ask(newTree(t), x("/a"))
		held.Lease = short
		takeThin(t, store, held)
		w := queue(t, store, ask(held.Tree, x("/a")))
		w.granted()
		if err := store.Release(t.Context(), held.Tree, held.Owner, held.Grant); !errors.Is(err, pathlock.ErrNotHeld) {
			t.Errorf("release after the lease: %v, want ErrNotHeld", err)
		}
		release(t, store, w.req)
		requireFree(t, store, held.Tree)
	})
	t.Run("not when it was renewed", func(t *testing.T) {
		t.Parallel()
		store := newStore(t)
		held := ask(newTree(t), x("/a"))
		held.Lease = 2 * short
		takeThin(t, store, held)
		if lost, err := store.Renew(t.Context(), held.Tree, []pathlock.Lease{{Owner: held.Owner, For: long}}); err != nil || len(lost) > 0 {
			t.Fatalf("lost %v, error %v", lost, err)
		}
		pass(t, store, 3*short)
		requireConflict(t, store, ask(held.Tree, x("/a")))
		release(t, store, held)
	})
}

// TestThinMemoryFull: a thin lock is inflated, renewed and given back on a server whose memory is
// full.
func TestThinMemoryFull(t *testing.T) {
	server := startServer(t)
	store := server.store()
	for _, tt := range []struct {
		name string
		meet func(t *testing.T, held pathlock.Acquisition)
	}{
		{"release", func(*testing.T, pathlock.Acquisition) {}},
		{"renewal", func(t *testing.T, held pathlock.Acquisition) {
			if lost, err := store.Renew(t.Context(), held.Tree, []pathlock.Lease{{Owner: held.Owner, For: 3 * long}}); err != nil || len(lost) > 0 {
				t.Errorf("lost %v, error %v", lost, err)
			}
			requireLease(t, store, held, 2*long)
		}},
		{"a request that it keeps out", func(t *testing.T, held pathlock.Acquisition) {
			requireConflict(t, store, ask(held.Tree, x("/a")))
		}},
		{"the same request again", func(t *testing.T, held pathlock.Acquisition) { take(t, store, held) }},
		{"a request in another tree", func(t *testing.T, held pathlock.Acquisition) {
			elsewhere := ask(newTree(t), x("/a"))
			if _, err := store.Acquire(t.Context(), elsewhere); !redis.IsOOMError(err) || !errors.Is(err, pathlock.ErrUnavailable) {
				t.Errorf("acquire: %v, want ErrUnavailable because of OOM", err)
			}
			if left := keysLeft(t, store, elsewhere.Tree); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}},
		{"a snapshot", func(t *testing.T, held pathlock.Acquisition) { requireHeld(t, store, held) }},
		{"another's withdrawal", func(t *testing.T, held pathlock.Acquisition) {
			if err := store.withdraw(t.Context(), keyOf(more(held)), 0); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			held := ask(newTree(t), x("/a/b"))
			takeThin(t, store, held)
			server.do("CONFIG", "SET", "maxmemory", "1")
			defer server.do("CONFIG", "SET", "maxmemory", "0")
			tt.meet(t, held)
			release(t, store, held)
			requireFree(t, store, held.Tree)
		})
	}
	t.Run("a forced release", func(t *testing.T) {
		held := ask(newTree(t), x("/a/b"))
		takeThin(t, store, held)
		server.do("CONFIG", "SET", "maxmemory", "1")
		defer server.do("CONFIG", "SET", "maxmemory", "0")
		if err := store.ForceRelease(t.Context(), held.Tree, held.Owner); err != nil {
			t.Error(err)
		}
		requireFree(t, store, held.Tree)
	})
}

// TestThinOfManyClaims: a thin lock may have more claims than Lua can hand to one command.
func TestThinOfManyClaims(t *testing.T) {
	w := newWays(t)[0]
	w.tree = newTree(t)
	many := ask(w.tree)
	for i := range 9000 {
		many.Claims = append(many.Claims, pathlock.Claim{Path: path(fmt.Sprint("/", i)), Mode: pathlock.Modes()[i%5]})
	}
	for _, inflate := range []bool{false, true} {
		if got := w.ask(t, many, 0); got.Status != "granted" {
			t.Fatalf("%s, want a grant", got.Status)
		}
		requireThin(t, w.store, w.tree)
		if inflate {
			last := ask(w.tree, pathlock.Claim{Path: path("/8999"), Mode: pathlock.ModeX})
			requireConflict(t, w.store, last)
			requireInflated(t, w.store, w.tree)
		}
		release(t, w.store, many)
		requireFree(t, w.store, w.tree)
	}
}

// TestThinBehindForeignGate: no thin lock gets past another program's redislock.
func TestThinBehindForeignGate(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	lock := obtain(t, store, tree, long)
	if conflict := conflictOf(t, store, ask(tree, x("/a"))); !conflict.Blocker.Gate || conflict.Blocker.Note != "nightly job" {
		t.Errorf("conflict %+v, want the nightly job's gate in the way", conflict)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	req := ask(tree, x("/a"))
	takeThin(t, store, req)
	release(t, store, req)
}

// TestObtainGateWaitsForThin: another program that takes the gate waits for a thin lock, and for
// one that is inflated while it waits.
func TestObtainGateWaitsForThin(t *testing.T) {
	for _, inflate := range []bool{false, true} {
		t.Run(fmt.Sprintf("inflate=%v", inflate), func(t *testing.T) {
			store := newStore(t)
			held := ask(newTree(t), x("/a"))
			takeThin(t, store, held)
			looked := lookHook{key: store.keys.thin(held.Tree), looks: make(chan struct{}, 100)}
			client := newClient(t)
			client.AddHook(looked)
			var lock *redislock.Lock
			var err error
			over := make(chan struct{})
			go func() {
				defer close(over)
				lock, err = ObtainGate(t.Context(), client, held.Tree, long, nil)
			}()
			for look := range 4 {
				select {
				case <-looked.looks:
				case <-over:
					t.Fatalf("ObtainGate returned %v, %v beside a node lock", lock, err)
				}
				if inflate && look == 1 {
					take(t, store, held)
					requireInflated(t, store, held.Tree)
				}
			}
			release(t, store, held)
			<-over
			if err != nil {
				t.Fatal(err)
			}
			if err := lock.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// lookHook tells of every look whether there is a thin lock.
type lookHook struct {
	key   string
	looks chan struct{}
}

func (h lookHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h lookHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h lookHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if args := cmd.Args(); args[0] == "exists" && args[1] == h.key {
			h.looks <- struct{}{}
		}
		return err
	}
}
