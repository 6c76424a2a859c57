package section

import (
	"context"
	"errors"
	"time"

	"github.com/pathlock-go/pathlock"
)

// fullTreeWait bounds waits that should end at once.
const fullTreeWait = time.Minute

// fullTree is a tree in which many locks are held, and many requests may wait.
type fullTree struct {
	storeTree
	*ownStore
	// held are the locks that stay held.
	held []pathlock.Acquisition
	// crowd is how many requests come at once.
	crowd int
	// fresh is the number of the next unused leaf.
	fresh int
	// queue are the present waiters, and holder is the lock that they wait for.
	queue  *queue
	holder pathlock.Acquisition
}

// openFullTree takes the locks that stay held.
func openFullTree(ctx context.Context, env *Env) (_ *fullTree, err error) {
	tree, err := pathlock.NewTree("bench", "full")
	if err != nil {
		return nil, err
	}
	store, err := openStore(env, "scripts")
	if err != nil {
		return nil, err
	}
	t := &fullTree{
		storeTree: storeTree{store: store.redis, tree: tree, wait: fullTreeWait},
		ownStore:  store, crowd: env.Plan.ScriptCrowd,
	}
	t.held, err = t.takeLeaves(ctx, env.Plan.ScriptHeld, treeLease)
	if err != nil {
		return nil, errors.Join(err, t.close(ctx))
	}
	return t, nil
}

// close ends the waits and deletes the tree.
func (t *fullTree) close(ctx context.Context) error {
	err := t.ownStore.close(ctx)
	if t.queue != nil {
		_ = t.queue.wait() // who still waits has been told that the store is closed
	}
	return err
}

// leaf returns an unused leaf beside the held ones.
func (t *fullTree) leaf() pathlock.Path {
	p := spread(t.fresh, scriptsDepth, 2)
	t.fresh++
	return p
}

// takeLeaves takes n leaves, with an owner for each.
func (t *fullTree) takeLeaves(ctx context.Context, n int, lease time.Duration) ([]pathlock.Acquisition, error) {
	taken := make([]pathlock.Acquisition, n)
	for i := range taken {
		taken[i] = t.ask(pathlock.X(t.leaf()))
		taken[i].Lease = lease
	}
	return taken, t.take(ctx, taken)
}

// fill makes n new owners wait for claims, and returns when all are in the queue. Each of them
// calls then after its grant.
func (t *fullTree) fill(ctx context.Context, n int, then func(context.Context, pathlock.Acquisition) error, claims ...pathlock.Claim) error {
	requests := make([]pathlock.Acquisition, n)
	for i := range requests {
		requests[i] = t.ask(claims...)
	}
	var err error
	t.queue, err = t.enqueue(ctx, then, requests...)
	return err
}
