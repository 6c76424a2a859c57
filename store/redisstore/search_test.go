package redisstore

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// TestLongCycle: a cycle through many owners is found at the request that closes it.
func TestLongCycle(t *testing.T) {
	const owners = 150
	store, tree := newStore(t), newTree(t)
	node := func(i int) pathlock.Claim { return x(fmt.Sprintf("/n/%d", i)) }
	var holds []pathlock.Acquisition
	for i := range owners {
		holds = append(holds, ask(tree, node(i)))
		take(t, store, holds[i])
	}
	for i := range owners - 1 {
		if got := sendAs(t, store, more(holds[i], node(i+1))); got.Status != "queued" {
			t.Fatalf("%d: %s, want it to be queued", i, got.Status)
		}
	}
	_, err := store.Acquire(t.Context(), wait(more(holds[owners-1], node(0))))
	requireDeadlock(t, err, holds[0].Owner)
	requireConsistent(t, store, tree)
}

// TestAskerClosesCycle: a waiter asks again, and its question is the first to find that a lease has
// ended. That lets in another request of its owner, which makes this one close a cycle, and then
// ends the other of the two, too: it is answered that there was a deadlock, and not queued anew.
func TestAskerClosesCycle(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	holder, a, b := ask(tree, x("/r")), ask(tree, pathlock.S(path("/r/n"))), ask(tree, pathlock.S(path("/r/n")))
	take(t, store, holder)
	asker := more(b, x("/r/n"))
	for _, req := range []pathlock.Acquisition{a, b, asker, more(a, pathlock.S(path("/r/k"))), more(a, x("/r/n")), more(b, x("/r/k"))} {
		if got := sendAs(t, store, req); got.Status != "queued" {
			t.Fatalf("%v: %s, want it to be queued", req.Claims, got.Status)
		}
	}
	ended := redis.Z{Score: 1, Member: "o" + string(holder.Owner)}
	if err := store.client.ZAdd(t.Context(), store.keys.of(tree)[1], ended).Err(); err != nil {
		t.Fatal(err)
	}
	if got := sendAs(t, store, asker); got.Status != "deadlock" || got.Text(1) != string(a.Owner) {
		t.Errorf("%s %v, want a deadlock with the other owner", got.Status, got.Rest)
	}
	requireConsistent(t, store, tree)
}
