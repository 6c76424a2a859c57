package offstore_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/offstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Two owners hold the same node exclusively: what every other store prevents.
func Example() {
	store := offstore.New()
	tree, _ := pathlock.NewTree("testplan", "plan-001")
	for _, owner := range []pathlock.Owner{"alice", "bob"} {
		_, err := store.Acquire(context.Background(), pathlock.Acquisition{
			Tree: tree, Owner: owner, Grant: "1",
			Claims: pathlock.Normalize(pathlock.X(pathlock.Root())),
			Lease:  time.Minute,
		})
		fmt.Println(owner, err)
	}
	// Output:
	// alice <nil>
	// bob <nil>
}

func TestStore_holdsNothing(t *testing.T) {
	ctx, store := t.Context(), offstore.New()
	tree, err := pathlock.NewTree("testplan", "plan-001")
	testerr.Must(t, err)
	req := pathlock.Acquisition{Tree: tree, Owner: "alice", Grant: "1", Gate: true, Lease: time.Minute}
	last := uint64(0)
	for range 3 {
		g, err := store.Acquire(ctx, req)
		testerr.Must(t, err)
		if g.Fence <= last {
			t.Errorf("fence %d after %d", g.Fence, last)
		}
		last = g.Fence
	}
	if lost, err := store.Renew(ctx, tree, []pathlock.Lease{{Owner: "alice", For: time.Minute}}); err != nil || len(lost) > 0 {
		t.Errorf("Renew: lost %v, error %v; want neither", lost, err)
	}
	if snap, err := store.Snapshot(ctx, tree); err != nil || snap.Tree != tree || len(snap.Holders)+len(snap.Waiters) > 0 {
		t.Errorf("Snapshot: %v, %v; want nobody", snap, err)
	}
	if trees, err := store.Trees(ctx); err != nil || len(trees) > 0 {
		t.Errorf("Trees: %v, %v; want none", trees, err)
	}
	if err := store.Release(ctx, tree, "alice", "1"); err != nil {
		t.Errorf("Release: %v; want nil", err)
	}
	locker := pathlock.New(store)
	lock, err := locker.Acquire(ctx, pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.Root())}})
	testerr.Must(t, err)
	token, err := lock.Detach(ctx)
	testerr.Must(t, err)
	testerr.Is(t, "ReleaseToken", locker.ReleaseToken(ctx, token), nil)
	testerr.Is(t, "Ping", store.Ping(ctx), nil)
}

// A process that starts after another gives out greater fences, as a database that remembers them
// expects.
func TestFence_growsOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, err := offstore.New().Acquire(t.Context(), pathlock.Acquisition{})
		testerr.Must(t, err)
		time.Sleep(time.Millisecond) // virtual
		after, err := offstore.New().Acquire(t.Context(), pathlock.Acquisition{})
		testerr.Must(t, err)
		if after.Fence <= before.Fence {
			t.Errorf("fence %d after a restart, %d before it", after.Fence, before.Fence)
		}
	})
}
