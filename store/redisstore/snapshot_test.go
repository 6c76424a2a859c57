package redisstore

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// TestSnapshotInPages: more than a page are shown, each once, whether they share a deadline or not.
func TestSnapshotInPages(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	var want []pathlock.Owner
	for i := range 2*snapshotPage + 10 {
		req := ask(tree, x(fmt.Sprintf("/a/%d", i)))
		take(t, store, req)
		want = append(want, req.Owner)
	}
	waiter := queue(t, store, ask(tree, x("/a/0")))
	see := func(how string) {
		t.Helper()
		snapshot, err := store.Snapshot(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		var got []pathlock.Owner
		for _, h := range snapshot.Holders {
			got = append(got, h.Owner)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d holders in the order of their fences, want %d", how, len(got), len(want))
		}
		if len(snapshot.Waiters) != 1 || snapshot.Waiters[0].Owner != waiter.req.Owner {
			t.Errorf("%s: waiters %v, want one", how, snapshot.Waiters)
		}
	}
	see("deadlines that differ")
	if err := store.client.ZAdd(t.Context(), store.keys.of(tree)[1], sameDeadline(want)...).Err(); err != nil {
		t.Fatal(err)
	}
	see("one deadline")
}

// sameDeadline returns the entries of owners whose leases end at one time.
func sameDeadline(owners []pathlock.Owner) []redis.Z {
	at := float64(time.Now().Add(long).UnixMilli())
	var all []redis.Z
	for _, owner := range owners {
		all = append(all, redis.Z{Score: at, Member: "o" + string(owner)})
	}
	return all
}

// TestSnapshotWhileDeadlinesMove: who holds from the first page to the last is shown, wherever its
// deadline goes between two pages.
func TestSnapshotWhileDeadlinesMove(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	owners := make(map[pathlock.Owner]bool)
	for i := range 3 * snapshotPage {
		req := ask(tree, x(fmt.Sprintf("/a/%d", i)))
		take(t, store, req)
		owners[req.Owner] = true
	}
	var members []redis.Z
	for owner := range owners {
		members = append(members, redis.Z{Member: "o" + string(owner)})
	}
	client, pages := newClient(t), 0
	client.AddHook(betweenPages(func(ctx context.Context) {
		pages++
		half := pages % 2
		for i := range members {
			// Every other deadline goes to the front and every other to the back, and next time the
			// other way round.
			members[i].Score = float64(time.Now().Add(time.Duration(1+(i+half)%2) * long).UnixMilli())
		}
		if err := store.client.ZAdd(ctx, store.keys.of(tree)[1], members...).Err(); err != nil {
			t.Error(err)
		}
	}))
	snapshot, err := closeStore(t, New(client, WithPrefix(store.config.prefix))).Snapshot(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	if pages < 3 {
		t.Fatalf("%d pages, want at least 3", pages)
	}
	for _, h := range snapshot.Holders {
		delete(owners, h.Owner)
	}
	if len(owners) > 0 {
		t.Errorf("%d of %d holders are not shown", len(owners), len(members))
	}
}

// betweenPages is called after each script that a client runs.
type betweenPages func(context.Context)

func (betweenPages) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h betweenPages) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if cmd.Name() == "evalsha" && err == nil {
			h(ctx)
		}
		return err
	}
}

func (h betweenPages) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		if err == nil {
			h(ctx)
		}
		return err
	}
}
