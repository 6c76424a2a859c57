package section

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// Leases of a full tree outlive the section, and its waits are for what comes in a moment.
const (
	fullTreeLease = 10 * time.Minute
	fullTreeWait  = time.Minute
)

// fullTree is a tree in which many locks are held, and many requests may wait.
type fullTree struct {
	at     contender.Server
	admin  redis.UniversalClient
	client *redis.Client
	store  *redisstore.Store
	tree   pathlock.Tree
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
	at := env.server("scripts")
	client, err := at.Client()
	if err != nil {
		return nil, err
	}
	t := &fullTree{
		at: at, admin: env.Admin, client: client, store: redisstore.New(client, redisstore.WithPrefix(at.Prefix)), tree: tree,
		crowd: env.Plan.ScriptCrowd,
	}
	t.held, err = t.takeLeaves(ctx, env.Plan.ScriptHeld, fullTreeLease)
	if err != nil {
		return nil, errors.Join(err, t.close(ctx))
	}
	return t, nil
}

// close ends the waits and deletes the tree.
func (t *fullTree) close(ctx context.Context) error {
	errs := []error{t.store.Close(ctx)}
	if t.queue != nil {
		_ = t.queue.wait() // who still waits is told that the store is closed
	}
	return errors.Join(append(errs, t.client.Close(), redisserver.Delete(context.WithoutCancel(ctx), t.admin, t.at.Prefix))...)
}

// ask returns a request of a new owner.
func (t *fullTree) ask(claims ...pathlock.Claim) pathlock.Acquisition {
	return pathlock.Acquisition{
		Tree: t.tree, Owner: pathlock.Owner(rand.Text()), Grant: pathlock.GrantID(rand.Text()[:8]),
		Claims: pathlock.Normalize(claims...), Lease: fullTreeLease,
	}
}

// leaf returns a leaf that nobody has had yet, beside those that are held.
func (t *fullTree) leaf() pathlock.Path {
	p := spread(t.fresh, scriptsDepth, 2)
	t.fresh++
	return p
}

func (t *fullTree) acquire(ctx context.Context, a pathlock.Acquisition) error {
	if _, err := t.store.Acquire(ctx, a); err != nil {
		return fmt.Errorf("acquiring: %w", err)
	}
	return nil
}

func (t *fullTree) release(ctx context.Context, a pathlock.Acquisition) error {
	if err := t.store.Release(ctx, t.tree, a.Owner, a.Grant); err != nil {
		return fmt.Errorf("releasing: %w", err)
	}
	return nil
}

// takeLeaves takes n leaves, each by an owner of its own.
func (t *fullTree) takeLeaves(ctx context.Context, n int, lease time.Duration) ([]pathlock.Acquisition, error) {
	taken := make([]pathlock.Acquisition, n)
	for i := range taken {
		taken[i] = t.ask(pathlock.X(t.leaf()))
		taken[i].Lease = lease
	}
	group, ctx := errgroup.WithContext(ctx)
	for h := range holders {
		group.Go(func() error {
			for i := h; i < n; i += holders {
				if err := t.acquire(ctx, taken[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return taken, group.Wait()
}

// queue is a number of requests that wait, a goroutine each.
type queue struct {
	group *errgroup.Group
	asked []pathlock.Acquisition
}

// enqueue has n owners wait for claims and returns when all are in the queue. Who has been granted them does then.
func (t *fullTree) enqueue(ctx context.Context, n int, then func(context.Context, pathlock.Acquisition) error, claims ...pathlock.Claim) error {
	group, groupCtx := errgroup.WithContext(ctx)
	t.queue = &queue{group: group}
	waiting := make(chan struct{}, n)
	for range n {
		a := t.ask(claims...)
		a.Wait, a.Waiting = fullTreeWait, func() { waiting <- struct{}{} }
		t.queue.asked = append(t.queue.asked, a)
		group.Go(func() error {
			if err := t.acquire(groupCtx, a); err != nil {
				return err
			}
			return then(groupCtx, a)
		})
	}
	for range n {
		select {
		case <-waiting:
		case <-groupCtx.Done():
			return fmt.Errorf("joining the queue: %w", t.queue.wait())
		}
	}
	return nil
}

// wait returns when all have been granted what they waited for, and have done what they do then.
func (q *queue) wait() error { return q.group.Wait() }

// keep is for those in a queue who do nothing with their grant.
func keep(context.Context, pathlock.Acquisition) error { return nil }
