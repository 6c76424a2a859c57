package section

import (
	"context"
	"errors"
	"time"

	"github.com/pathlock-go/pathlock"
)

// fullTreeWait bounds waits for what comes in a moment.
const fullTreeWait = time.Minute

// fullTree is a tree in which many locks are held, and many requests may wait.
type fullTree struct {
	storeTree
	*ownStore
	// held are the locks that are held all the time.
	held []pathlock.Acquisition
	// crowd is how many come at once.
	crowd int
	// fresh is the number of the next leaf that nobody has had yet.
	fresh int
	// queue are those who wait at the moment, and holder is whom they wait for.
	queue  *queue
	holder pathlock.Acquisition
}

// openFullTree takes the locks that are held all the time.
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

// leaf returns a leaf that nobody has had yet, beside those that are held.
func (t *fullTree) leaf() pathlock.Path {
	p := spread(t.fresh, scriptsDepth, 2)
	t.fresh++
	return p
}

// takeLeaves takes n leaves, each by an owner of its own.
func (t *fullTree) takeLeaves(ctx context.Context, n int, lease time.Duration) ([]pathlock.Acquisition, error) {
	taken := make([]pathlock.Acquisition, n)
	for i := range taken {
		taken[i] = t.ask(pathlock.X(t.leaf()))
		taken[i].Lease = lease
	}
	return taken, t.take(ctx, taken)
}

// fill has n new owners wait for claims and returns when all are in the queue. Who has been granted
// them does then.
func (t *fullTree) fill(ctx context.Context, n int, then func(context.Context, pathlock.Acquisition) error, claims ...pathlock.Claim) error {
	requests := make([]pathlock.Acquisition, n)
	for i := range requests {
		requests[i] = t.ask(claims...)
	}
	var err error
	t.queue, err = t.enqueue(ctx, then, requests...)
	return err
}
