package storm

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// A scene provokes one anomaly. It builds a few suites of its own, and then changes them twice at
// the same time, through different instances.
type scene func(ctx context.Context, c *client, arena model.Suite)

var scenes = []scene{
	twoRenames, renameAndInsert, sameName, crossingMoves, nestedRenames, insertIntoDeleted, copyOfRenamed,
}

// twoRenames: half of the descendants get one prefix, half get the other.
func twoRenames(ctx context.Context, c *client, arena model.Suite) {
	chain, ok := c.chain(ctx, arena, "d1", "d2", "d3")
	if ok {
		c.atOnce(ctx, rename(chain[0], "left"), rename(chain[0], "right"))
	}
}

// renameAndInsert: the new row keeps a prefix that has gone.
func renameAndInsert(ctx context.Context, c *client, arena model.Suite) {
	chain, ok := c.chain(ctx, arena, "d1", "d2")
	if ok {
		c.atOnce(ctx, rename(chain[0], "renamed"), insert(c.plan.ID, chain[1], "new"))
	}
}

// sameName: both pass the duplicate check.
func sameName(ctx context.Context, c *client, arena model.Suite) {
	c.atOnce(ctx, insert(c.plan.ID, arena.ID, "same"), insert(c.plan.ID, arena.ID, "same"))
}

// crossingMoves: each goes below the other, and both end in a cycle.
func crossingMoves(ctx context.Context, c *client, arena model.Suite) {
	left, ok := c.chain(ctx, arena, "l1", "l2")
	if !ok {
		return
	}
	if right, ok := c.chain(ctx, arena, "r1", "r2"); ok {
		c.atOnce(ctx, move(left[0], right[1]), move(right[0], left[1]))
	}
}

// nestedRenames: the lower one writes the upper one's old name back.
func nestedRenames(ctx context.Context, c *client, arena model.Suite) {
	chain, ok := c.chain(ctx, arena, "d1", "d2", "d3")
	if ok {
		c.atOnce(ctx, rename(chain[0], "upper"), rename(chain[1], "lower"))
	}
}

// insertIntoDeleted: the new row is left without a parent.
func insertIntoDeleted(ctx context.Context, c *client, arena model.Suite) {
	chain, ok := c.chain(ctx, arena, "d1", "d2")
	if ok {
		c.atOnce(ctx, remove(chain[0]), insert(c.plan.ID, chain[1], "new"))
	}
}

// copyOfRenamed: the copy is put under the old name of its parent.
func copyOfRenamed(ctx context.Context, c *client, arena model.Suite) {
	chain, ok := c.chain(ctx, arena, "d1", "d2", "d3")
	if ok {
		c.atOnce(ctx, rename(chain[0], "renamed"), copyTo(chain[1], chain[0], "copy"))
	}
}

// play creates an arena for a scene, and plays the scene.
func (c *client) play(ctx context.Context, s scene) {
	arena := c.send(ctx, insert(c.plan.ID, c.plan.RootID, c.newName()))
	if arena.ok() {
		s(ctx, c, arena.suite)
	}
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
