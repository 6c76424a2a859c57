package redisstore

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// chained is so many owners that a search among them takes several portions, and not as many that
// the portions grow with it.
const chained = 150

// chain is a tree in which each owner holds a node and waits for the next one's, but for the last.
type chain struct {
	t     *testing.T
	store *Store
	tree  pathlock.Tree
	holds []pathlock.Acquisition
	waits []*waiting

	// between is done after each portion of a search.
	between func()
	portions,
	answers int
}

func newChain(t *testing.T) *chain {
	c := &chain{t: t, store: newStore(t), tree: newTree(t), between: func() {}}
	node := func(i int) pathlock.Claim { return x(fmt.Sprintf("/n/%d", i)) }
	for i := range chained {
		c.holds = append(c.holds, ask(c.tree, node(i)))
		take(t, c.store, c.holds[i])
	}
	for i := range chained - 1 {
		c.waits = append(c.waits, queue(t, c.store, more(c.holds[i], node(i+1))))
	}
	return c
}

// closing is the request of the last owner that closes a cycle through all of them.
func (c *chain) closing() pathlock.Acquisition { return wait(more(c.holds[chained-1], x("/n/0"))) }

// watched returns a store that counts the answers of its acquire script, and the portions among
// them.
func (c *chain) watched() *Store {
	s := newStore(c.t)
	process := s.runner.Process
	var mu sync.Mutex
	s.runner.Process = func(ctx context.Context, lane lua.Lane, cmd redis.Cmder) error {
		err := process(ctx, lane, cmd)
		mu.Lock()
		defer mu.Unlock()
		if answer, ok := cmd.(*redis.Cmd); ok && err == nil && cmd.Args()[1] == s.scripts.acquire.SHA() {
			c.answers++
			if items, ok := answer.Val().([]any); ok && items[0] == "searching" {
				c.portions++
				c.between()
			}
		}
		return err
	}
	return s
}

// TestSearchInPortions: a cycle through many owners is found in portions, with nothing queued
// meanwhile.
func TestSearchInPortions(t *testing.T) {
	c := newChain(t)
	c.between = func() { requireConsistent(t, c.store, c.tree) }
	_, err := c.watched().Acquire(t.Context(), c.closing())
	requireDeadlock(t, err, c.holds[0].Owner)
	if c.portions < 2 {
		t.Errorf("%d portions, want some", c.portions)
	}
	requireConsistent(t, c.store, c.tree)
}

// TestSearchOfChangedTable: what a search has found is worth nothing when the table has changed.
func TestSearchOfChangedTable(t *testing.T) {
	c := newChain(t)
	c.between = func() {
		if c.portions == 1 { // by then, the first portion has gone past this one
			gone := c.waits[chained-3]
			if _, err := c.store.scripts.withdraw.Ask(t.Context(), c.store.runner, c.store.keys.of(c.tree),
				string(gone.req.Owner), string(gone.req.Grant), "0"); err != nil {
				t.Error(err)
			}
		}
	}
	end := queue(t, c.watched(), c.closing())
	if c.portions != 1 {
		t.Errorf("%d portions, want one before the wait", c.portions)
	}
	requireConsistent(t, c.store, c.tree)
	release(t, c.store, c.holds[0])
	end.granted()
}

// TestSearchOfRestlessTable: a search that something comes between time after time is done at once.
func TestSearchOfRestlessTable(t *testing.T) {
	c := newChain(t)
	bystander := ask(c.tree, x("/else"))
	take(t, c.store, bystander)
	c.between = func() { take(t, c.store, more(bystander, x("/else/a"))) }
	_, err := c.watched().Acquire(t.Context(), c.closing())
	requireDeadlock(t, err, c.holds[0].Owner)
	if c.portions != 3 || c.answers != 4 {
		t.Errorf("%d answers, of which %d portions, want 3 and the last", c.answers, c.portions)
	}
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
	if got := sendAs(t, store, asker); got.Status != "deadlock" || got.Text(2) != string(a.Owner) {
		t.Errorf("%s %v, want a deadlock with the other owner", got.Status, got.Rest)
	}
	requireConsistent(t, store, tree)
}
