package middleware

import (
	"context"
	"errors"
	"time"

	"github.com/pathlock-go/pathlock"
)

// disorderly is how often a request that needs several trees waits for one of them while it holds
// none.
const disorderly = 3

// take acquires requests, one per tree, all or none, within the budget.
//
// A request does not hold one tree while it waits for another, as long as there is another way: it
// waits for one, and asks for the others without waiting. If one of these is not to be had, it lets
// go of all and waits for that one. So that it does not go on like this for ever where several
// trees are busy, it waits in the order of the requests in the end, which is the same for
// everybody, and holds what it has; at the latest when half of its time is over.
func (v *visit) take(ctx context.Context, requests []pathlock.Request) (*held, error) {
	if len(requests) < 2 {
		locks, _, err := v.takeEach(ctx, requests, 0, v.budget.remaining())
		return locks, err
	}
	first := 0
	for range disorderly {
		if v.budget.remaining() < v.budget.whole/2 {
			break
		}
		locks, refused, err := v.takeEach(ctx, requests, first, v.budget.remaining())
		if err == nil || refused == first || !errors.Is(err, pathlock.ErrConflict) {
			return locks, err
		}
		if v.budget.remaining() <= 0 {
			return nil, err
		}
		first = refused
	}
	return v.takeInOrder(ctx, requests)
}

// takeEach waits for requests[first] for at most wait, and takes the others if they are to be had
// at once. After an error it holds nothing, and refused is the request that was not granted.
func (v *visit) takeEach(ctx context.Context, requests []pathlock.Request, first int, wait time.Duration) (locks *held, refused int, err error) {
	t := taking{visit: v, ctx: ctx}
	defer t.end()
	if len(requests) > 0 {
		if err := t.add(requests[first], wait); err != nil {
			return nil, first, err
		}
	}
	for i, req := range requests {
		if i == first {
			continue
		}
		if err := t.add(req, pathlock.NoWait); err != nil {
			return nil, i, err
		}
	}
	return t.all(), 0, nil
}

// takeInOrder waits for one request after the other, and holds what it has while it waits.
func (v *visit) takeInOrder(ctx context.Context, requests []pathlock.Request) (*held, error) {
	t := taking{visit: v, ctx: ctx}
	defer t.end()
	for _, req := range requests {
		if err := t.add(req, v.budget.remaining()); err != nil {
			return nil, err
		}
	}
	return t.all(), nil
}

// taking is what has been taken so far of several requests. Its end lets it go, unless all of it
// was asked for before.
type taking struct {
	*visit
	ctx   context.Context
	locks held
	whole bool
}

// add takes one more.
func (t *taking) add(req pathlock.Request, wait time.Duration) error {
	req.Wait, req.Lease = wait, t.config.Lease
	if t.note != "" {
		req.Note = t.note
	}
	if ahead := t.claimsAhead(req.Tree); len(ahead) > 0 {
		// The hold would go along with the node: it needs to be had on its own, before what covers
		// it.
		along := req
		along.Claims, along.Gate, along.Note = ahead, false, t.hold.lock.Note()
		if err := t.acquire(along); err != nil {
			return err
		}
		t.locks.along = t.locks.taken[len(t.locks.taken)-1]
		if wait > 0 {
			req.Wait = t.budget.remaining()
		}
	}
	return t.acquire(req)
}

// acquire takes one more under those that there are.
func (t *taking) acquire(req pathlock.Request) error {
	lock, err := t.locker.Acquire(t.locks.context(t.ctx), req)
	if err == nil {
		t.locks.taken = append(t.locks.taken, lock)
	}
	return err
}

// all returns what was taken.
func (t *taking) all() *held {
	t.locks.limit = t.limit(t.ctx, t.locks)
	t.whole = true
	return &t.locks
}

// end releases what was taken, unless all of it was.
func (t *taking) end() {
	if !t.whole {
		t.locks.release(t.ctx)
	}
}
