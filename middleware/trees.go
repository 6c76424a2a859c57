package middleware

import (
	"context"
	"time"

	"github.com/pathlock-go/pathlock"
)

// take acquires requests, one per tree, all or none, within the budget. It waits for one tree after
// the other and keeps what it has. The order is the same for everybody.
func (v *visit) take(ctx context.Context, requests []pathlock.Request) (*held, error) {
	return v.takeEach(ctx, requests, v.budget.remaining)
}

// takeEach is take with other waits than those of the budget. After an error it holds nothing.
func (v *visit) takeEach(ctx context.Context, requests []pathlock.Request, wait func() time.Duration) (*held, error) {
	locks, whole := new(held), false
	defer func() {
		if !whole {
			locks.release(ctx)
		}
	}()
	for _, req := range requests {
		if v.note != "" {
			req.Note = v.note
		}
		if ahead := v.claimsAhead(req.Tree); len(ahead) > 0 {
			// The hold needs a lock of its own to follow the node, taken before the one that covers
			// it.
			along := req
			along.Claims, along.Gate, along.Note = ahead, false, v.hold.lock.Note()
			if err := v.add(ctx, locks, along, wait()); err != nil {
				return nil, err
			}
			locks.along = locks.taken[len(locks.taken)-1]
		}
		if err := v.add(ctx, locks, req, wait()); err != nil {
			return nil, err
		}
	}
	locks.limit = v.limit(ctx, locks)
	whole = true
	return locks, nil
}

// add takes one request under the locks that there are.
func (v *visit) add(ctx context.Context, locks *held, req pathlock.Request, wait time.Duration) error {
	req.Wait, req.Lease = wait, v.config.Lease
	lock, err := v.locker.Acquire(locks.context(ctx), req)
	if err == nil {
		locks.taken = append(locks.taken, lock)
	}
	return err
}
