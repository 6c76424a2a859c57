package middleware

import (
	"context"
	"errors"
	"time"

	"github.com/pathlock-go/pathlock"
)

// triesOutOfOrder is how often a request that needs several trees waits for one of them while it
// holds nothing, before it waits in order.
const triesOutOfOrder = 3

// take acquires requests, one per tree, all or none, within the budget.
//
// It avoids holding one tree while it waits for another. It waits for one tree, and asks for the
// others without waiting. If one of these is refused, it releases everything and waits for that
// one. This need not end where several trees are busy. So after some tries, or half of the budget,
// it waits for one tree after the other and keeps what it has. The order is the same for everybody.
func (v *visit) take(ctx context.Context, requests []pathlock.Request) (*held, error) {
	if len(requests) < 2 {
		locks, _, err := v.takeEach(ctx, requests, 0, v.budget.remaining())
		return locks, err
	}
	first := 0
	for range triesOutOfOrder {
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

// takeEach waits for requests[first] for at most wait, and asks for the others without waiting.
// After an error it holds nothing, and refused is the index of the request that was not granted.
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

// takeInOrder waits for one request after the other, and keeps what it has.
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

// taking is what has been taken so far of several requests. end releases it unless all came before.
type taking struct {
	*visit
	ctx   context.Context
	locks held
	whole bool
}

// add takes one request, and first what the hold needs to follow a node.
func (t *taking) add(req pathlock.Request, wait time.Duration) error {
	req.Wait, req.Lease = wait, t.config.Lease
	if t.note != "" {
		req.Note = t.note
	}
	if ahead := t.claimsAhead(req.Tree); len(ahead) > 0 {
		// The hold needs a lock of its own to follow the node, taken before the one that covers it.
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

// acquire takes one request under the locks that there are.
func (t *taking) acquire(req pathlock.Request) error {
	lock, err := t.locker.Acquire(t.locks.context(t.ctx), req)
	if err == nil {
		t.locks.taken = append(t.locks.taken, lock)
	}
	return err
}

// all returns everything that was taken, and keeps end from releasing it.
func (t *taking) all() *held {
	t.locks.limit = t.limit(t.ctx, t.locks)
	t.whole = true
	return &t.locks
}

// end releases what was taken, unless all has returned it.
func (t *taking) end() {
	if !t.whole {
		t.locks.release(t.ctx)
	}
}
