package section

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pathlock-go/pathlock"
)

// storeTree is a tree of a store that works without a locker.
type storeTree struct {
	store pathlock.Store
	tree  pathlock.Tree
	// wait is how long waiters wait at most.
	wait time.Duration
}

// treeLease is longer than any measurement.
const treeLease = 10 * time.Minute

// ask returns a request of a new owner.
func (t *storeTree) ask(claims ...pathlock.Claim) pathlock.Acquisition {
	return pathlock.Acquisition{
		Tree: t.tree, Owner: pathlock.Owner(rand.Text()), Grant: pathlock.GrantID(rand.Text()[:8]),
		Claims: pathlock.Normalize(claims...), Lease: treeLease,
	}
}

// also returns a further request of the owner of a.
func (t *storeTree) also(a pathlock.Acquisition, claims ...pathlock.Claim) pathlock.Acquisition {
	further := t.ask(claims...)
	further.Owner, further.Held = a.Owner, true
	return further
}

func (t *storeTree) acquire(ctx context.Context, a pathlock.Acquisition) error {
	if _, err := t.store.Acquire(ctx, a); err != nil {
		return fmt.Errorf("acquiring: %w", err)
	}
	return nil
}

func (t *storeTree) release(ctx context.Context, a pathlock.Acquisition) error {
	if err := t.store.Release(ctx, t.tree, a.Owner, a.Grant); err != nil {
		return fmt.Errorf("releasing: %w", err)
	}
	return nil
}

// take takes all requests, several at a time.
func (t *storeTree) take(ctx context.Context, requests []pathlock.Acquisition) error {
	group, ctx := errgroup.WithContext(ctx)
	for h := range holders {
		group.Go(func() error {
			for i := h; i < len(requests); i += holders {
				if err := t.acquire(ctx, requests[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// queue is a number of waiting requests, each in a goroutine.
type queue struct {
	group *errgroup.Group
	asked []pathlock.Acquisition
	// giveUp ends all waits.
	giveUp context.CancelFunc
}

// enqueue makes requests wait, and returns when all are in the queue, in no particular order. Each
// request calls then after its grant. The caller must wait for the queue, even after an error.
func (t *storeTree) enqueue(ctx context.Context, then func(context.Context, pathlock.Acquisition) error, requests ...pathlock.Acquisition) (*queue, error) {
	ctx, giveUp := context.WithCancel(ctx)
	group, groupCtx := errgroup.WithContext(ctx)
	q := &queue{group: group, asked: requests, giveUp: giveUp}
	waiting := make(chan struct{}, len(requests))
	for _, a := range requests {
		a.Wait, a.Waiting = t.wait, func() { waiting <- struct{}{} }
		group.Go(func() error {
			if err := t.acquire(groupCtx, a); err != nil {
				return err
			}
			return then(groupCtx, a)
		})
	}
	for range requests {
		select {
		case <-waiting:
		case <-groupCtx.Done():
			return q, fmt.Errorf("joining the queue: %w", q.wait())
		}
	}
	return q, nil
}

// wait returns when all requests have been granted and their calls of then have returned.
func (q *queue) wait() error {
	defer q.giveUp()
	return q.group.Wait()
}

// leave makes all requests give up, and returns when they have.
func (q *queue) leave() error {
	q.giveUp()
	if err := q.group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// keep is the function then of requests that keep their grant.
func keep(context.Context, pathlock.Acquisition) error { return nil }

// leafLock is a lock of one leaf. Each acquisition has a new owner.
type leafLock struct {
	in      *storeTree
	request pathlock.Acquisition
	name    string
	count   uint64
}

// lock returns the lock of a leaf.
func (t *storeTree) lock(leaf pathlock.Path) *leafLock {
	request := t.ask(pathlock.X(leaf))
	return &leafLock{in: t, request: request, name: string(request.Owner)}
}

// Acquire implements [contender.Lock].
func (l *leafLock) Acquire(ctx context.Context) error {
	l.count++
	l.request.Owner = pathlock.Owner(strconv.AppendUint([]byte(l.name), l.count, 10))
	return l.in.acquire(ctx, l.request)
}

// Release implements [contender.Lock].
func (l *leafLock) Release(ctx context.Context) error { return l.in.release(ctx, l.request) }
