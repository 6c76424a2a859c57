package etcdstore

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
)

func TestOwns(t *testing.T) {
	t.Parallel()
	_, client := newServer(t)
	store, tree := newStore(t, client), newTree(t)
	locker := pathlock.New(store)
	path := func(s string) pathlock.Path { return x(t, s)[len(x(t, s))-1].Path }
	take := func(ctx context.Context, claim pathlock.Claim) *pathlock.Lock {
		lock, err := locker.Acquire(ctx, pathlock.Request{Tree: tree, Claims: []pathlock.Claim{claim}})
		if err != nil {
			t.Fatal(err)
		}
		return lock
	}
	writes := func(held []clientv3.Cmp) bool {
		response, err := client.Txn(t.Context()).If(held...).Then(clientv3.OpPut("data", "mine")).Commit()
		if err != nil {
			t.Fatal(err)
		}
		return response.Succeeded
	}
	outer := take(t.Context(), pathlock.X(path("/a")))
	inner := take(outer.Context(), pathlock.X(path("/b")))
	both := take(inner.Context(), pathlock.X(path("/a/c"))) // re-enters
	held := map[string][]clientv3.Cmp{}
	for name, lock := range map[string]*pathlock.Lock{"outer": outer, "inner": inner, "re-entrant": both} {
		cmps, err := store.Owns(t.Context(), lock)
		if err != nil {
			t.Fatal(err)
		}
		if held[name] = cmps; !writes(cmps) {
			t.Errorf("%s: nothing is written, although the lock is held", name)
		}
	}
	// Renewals change the ticket, and not the conditions.
	if _, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: "nobody", For: time.Hour}}); err != nil {
		t.Fatal(err)
	}
	if err := inner.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if writes(held["inner"]) {
		t.Error("something is written after the release")
	}
	if !writes(held["outer"]) || !writes(held["re-entrant"]) {
		t.Error("the release of one lock has ended the others")
	}
	snapshot, err := store.Snapshot(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.ForceRelease(t.Context(), tree, snapshot.Holders[0].Owner); err != nil {
		t.Fatal(err)
	}
	if next := take(t.Context(), pathlock.X(path("/a"))); writes(held["outer"]) || writes(held["re-entrant"]) {
		t.Errorf("something is written although fence %d has the node", next.Fence())
	}
	if _, err := store.Owns(t.Context(), outer); !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("the conditions of a lock that was lost: %v, want what matches ErrLost", err)
	}
}
