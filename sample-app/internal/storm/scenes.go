package storm

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// A scene provokes one anomaly. It builds chains of suites of its own, each below the one before,
// and then changes them twice at the same time, through different instances.
type scene struct {
	// goes says what goes wrong without protection.
	goes    string
	chains  [][]string
	changes func(plan, arena int64, made [][]int64) []request
}

var scenes = []scene{
	{"half of the descendants get one prefix, half get the other", [][]string{{"d1", "d2", "d3"}}, func(_, _ int64, made [][]int64) []request {
		return []request{rename(made[0][0], "left"), rename(made[0][0], "right")}
	}},
	{"the new row keeps a prefix that has gone", [][]string{{"d1", "d2"}}, func(plan, _ int64, made [][]int64) []request {
		return []request{rename(made[0][0], "renamed"), insert(plan, made[0][1], "new")}
	}},
	{"both pass the duplicate check", nil, func(plan, arena int64, _ [][]int64) []request {
		return []request{insert(plan, arena, "same"), insert(plan, arena, "same")}
	}},
	{"each goes below the other, and both end in a cycle", [][]string{{"l1", "l2"}, {"r1", "r2"}}, func(_, _ int64, made [][]int64) []request {
		return []request{move(made[0][0], made[1][1]), move(made[1][0], made[0][1])}
	}},
	{"the lower one writes the upper one's old name back", [][]string{{"d1", "d2", "d3"}}, func(_, _ int64, made [][]int64) []request {
		return []request{rename(made[0][0], "upper"), rename(made[0][1], "lower")}
	}},
	{"the new row is left without a parent", [][]string{{"d1", "d2"}}, func(plan, _ int64, made [][]int64) []request {
		return []request{remove(made[0][0]), insert(plan, made[0][1], "new")}
	}},
	{"the copy is put under the old name of its parent", [][]string{{"d1", "d2", "d3"}}, func(_, _ int64, made [][]int64) []request {
		return []request{rename(made[0][0], "renamed"), copyTo(made[0][1], made[0][0], "copy")}
	}},
}

// play creates an arena for a scene, and plays the scene.
func (c *client) play(ctx context.Context, s scene) {
	arena := c.send(ctx, insert(c.plan.ID, c.plan.RootID, c.newName()))
	if !arena.ok() {
		return
	}
	var made [][]int64
	for _, names := range s.chains {
		chain, ok := c.chain(ctx, arena.suite, names...)
		if !ok {
			return
		}
		made = append(made, chain)
	}
	c.atOnce(ctx, s.changes(c.plan.ID, arena.suite.ID, made)...)
}

// chain creates suites, each below the one before, and returns their ids.
func (c *client) chain(ctx context.Context, top model.Suite, names ...string) ([]int64, bool) {
	parent := top.ID
	ids := make([]int64, 0, len(names))
	for _, name := range names {
		a := c.send(ctx, insert(c.plan.ID, parent, name))
		if !a.ok() {
			return nil, false
		}
		parent = a.suite.ID
		ids = append(ids, parent)
	}
	return ids, true
}

// atOnce sends requests to different instances at the same time.
func (c *client) atOnce(ctx context.Context, requests ...request) {
	first := c.rand.IntN(len(c.addrs))
	var ready, done sync.WaitGroup
	ready.Add(len(requests))
	for i, r := range requests {
		addr := c.addrs[(first+i)%len(c.addrs)]
		done.Go(func() {
			ready.Done()
			ready.Wait()
			c.sendTo(ctx, addr, r)
		})
	}
	done.Wait()
}

// stray makes a random change to the suites that all clients share.
func (c *client) stray(ctx context.Context) {
	w := c.world
	id, ok := w.branch(c.rand)
	if !ok || c.rand.IntN(10) < 3 {
		if a := c.send(ctx, insert(c.plan.ID, w.any(c.rand), c.newName())); a.ok() {
			w.add(a.suite.ID, c.rand)
		}
		return
	}
	switch c.rand.IntN(7) {
	case 0, 1, 2:
		c.send(ctx, rename(id, c.newName()))
	case 3, 4:
		c.send(ctx, move(id, w.any(c.rand)))
	case 5:
		if a := c.send(ctx, copyTo(id, c.plan.RootID, c.newName())); a.ok() {
			w.add(a.suite.ID, c.rand)
		}
	case 6:
		if a := c.send(ctx, remove(id)); a.ok() || a.status == http.StatusNotFound {
			w.remove(id)
		}
	}
}

// newName returns a name that no other client uses.
func (c *client) newName() string {
	c.made++
	return fmt.Sprintf("%s-%d", c.name, c.made)
}
