package middleware

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// acquire takes the locks that the spec states for the request. It resolves, locks, and resolves
// again, until the nodes are where they were when it planned the locks. If it fails, or a resolver
// panics, nothing stays locked.
//
// If the request uses its token, it takes everything as the owner of the token's hold.
func (v *visit) acquire(ctx context.Context) (taken *lockSet, err error) {
	var locks *lockSet
	done := false
	defer func() {
		if !done {
			locks.release(ctx)
		}
	}()
	attempt := 1
	retried := func(error) {}
	defer func() { retried(err) }()
	planned, err := v.plan(ctx, attempt, lockspec.Binding{})
	if err != nil {
		return nil, because(ctx, err)
	}
	outside := ctx
	var retry RetryStrategy
	var pause time.Duration
	for {
		v.moves = planned.Moves
		if v.attaches(ctx, planned.Requests) {
			locks.release(ctx) // it belongs to another owner
			locks = nil
			if ctx, err = v.attach(outside); err != nil {
				return nil, because(ctx, err)
			}
		}
		if locks, err = v.takeOver(ctx, locks, planned.Requests, pause); err != nil {
			return nil, because(ctx, err)
		}
		found, moved, err := v.lookAgain(ctx, planned, locks, attempt)
		if err != nil {
			return nil, err
		}
		if !moved {
			break
		}
		if retry == nil {
			retry = v.config.Retry()
		}
		if pause = retry.NextBackoff(); pause <= 0 {
			return nil, changed(planned, found)
		}
		retried(pathlock.ErrPathChanged)
		attempt++
		_, retried = v.locker.Step(ctx, pathlock.Step{Kind: pathlock.StepRetry, Attempt: attempt})
		planned = found
	}
	done = true
	return locks, nil
}

// takeOver acquires requests, and releases the locks of an earlier try.
//
// In one tree, it asks for the new locks while it holds the old ones: an owner that holds something
// in a tree passes those that wait for it, and this request has already waited its turn. If that
// would be a deadlock, or the locks are in other trees, takeOver releases everything and begins
// anew after a pause.
func (v *visit) takeOver(ctx context.Context, before *lockSet, requests []pathlock.Request, pause time.Duration) (*lockSet, error) {
	if before == nil || len(before.taken) == 0 {
		return v.take(ctx, requests)
	}
	defer before.release(ctx)
	elsewhere := func(lock *pathlock.Lock) bool { return lock.Tree() != requests[0].Tree }
	// Locks that are to stay with a hold must not rely on locks that are released here.
	if v.hold == nil && len(requests) == 1 && !slices.ContainsFunc(before.taken, elsewhere) {
		// The context of the locks ends with their release, that of their scope does not.
		same := v.locker.Scope(before.context(ctx)).Context(ctx)
		if locks, err := v.take(same, requests); !errors.Is(err, pathlock.ErrDeadlock) {
			return locks, err
		}
	}
	before.release(ctx)
	if err := v.pause(ctx, pause); err != nil {
		return nil, err
	}
	return v.take(ctx, requests)
}

// pause waits for a while, or until ctx ends.
func (v *visit) pause(ctx context.Context, length time.Duration) error {
	select {
	case <-time.After(length):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("middleware: waiting to lock again: %w", because(ctx, ctx.Err()))
	}
}

// take acquires requests, one per tree, all or none, within the wait that is left. It locks one
// tree after the other, in an order that is the same for everybody, and keeps what it has while it
// waits. After an error it holds nothing.
func (v *visit) take(ctx context.Context, requests []pathlock.Request) (*lockSet, error) {
	locks, whole := newLockSet(), false
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
			if err := v.add(ctx, locks, along); err != nil {
				return nil, err
			}
			locks.along = locks.taken[len(locks.taken)-1]
		}
		if err := v.add(ctx, locks, req); err != nil {
			return nil, err
		}
	}
	locks.limit = v.limit(ctx, locks)
	whole = true
	return locks, nil
}

// add takes one request under the locks that there are.
func (v *visit) add(ctx context.Context, locks *lockSet, req pathlock.Request) error {
	req.Wait, req.Lease = v.remaining(), v.config.Lease
	req.Asserted = v.asserted
	lock, err := v.locker.Acquire(locks.context(ctx), req)
	if err == nil {
		locks.taken = append(locks.taken, lock)
	}
	return err
}

// lookAgain resolves the nodes again under their locks, and reports whether any of them has moved
// since the locks were planned.
func (v *visit) lookAgain(ctx context.Context, planned lockspec.Binding, locks *lockSet, attempt int) (found lockspec.Binding, moved bool, err error) {
	if !v.mustLookAgain(planned, locks) {
		return planned, false, nil
	}
	under := locks.context(ctx)
	if found, err = v.plan(under, attempt, planned); err != nil {
		return found, false, because(under, err)
	}
	return found, !slices.Equal(planned.Nodes, found.Nodes), nil
}

// mustLookAgain reports whether the middleware must find out if nodes moved before they were
// locked. It must after a wait, since earlier holders may have moved them, and the assertion could
// only refuse. It must if the hold follows a node, to know where the node is. And it must under
// Authorize, because the assertion does not know who may write where.
func (v *visit) mustLookAgain(planned lockspec.Binding, locks *lockSet) bool {
	if len(planned.Nodes) == 0 {
		return false
	}
	follows := v.hold != nil && len(planned.Moves) > 0
	return !v.spec.IsAsserted() || v.config.Authorize != nil || follows || locks.waited()
}

// changed names a node whose path changed. Both bindings are of the same values, and so of the same
// nodes.
func changed(planned, found lockspec.Binding) error {
	for i, was := range planned.Nodes {
		if found.Nodes[i] != was {
			return fmt.Errorf("%w: %s is now %s: it kept moving while its lock was being taken",
				pathlock.ErrPathChanged, was.Path, found.Nodes[i].Path)
		}
	}
	return fmt.Errorf("%w: the nodes kept moving while their locks were being taken", pathlock.ErrPathChanged)
}

// because adds the cause of a context that has ended to an error. The error of a driver, or of a
// resolver, often says only that it was interrupted.
func because(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(err, cause) {
		return err
	}
	if _, ok := errors.AsType[*Problem](err); ok {
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// lockSet is what one request holds, in the order in which it was taken. nil is nothing.
type lockSet struct {
	taken []*pathlock.Lock
	one   [1]*pathlock.Lock // the backing array of taken, which is hardly ever longer
	limit *time.Timer
	// along is the lock among them through which the token's hold follows a node that moves, nil if
	// there is none.
	along *pathlock.Lock
}

func newLockSet() *lockSet {
	s := new(lockSet)
	s.taken = s.one[:0]
	return s
}

// context returns the context of the innermost lock, which carries the scope of all and ends with
// each.
func (s *lockSet) context(outer context.Context) context.Context {
	if s == nil || len(s.taken) == 0 {
		return outer
	}
	return s.taken[len(s.taken)-1].Context()
}

// release releases everything, the last lock first. The locker logs and retries what fails.
func (s *lockSet) release(ctx context.Context) {
	if s == nil {
		return
	}
	if s.limit != nil {
		s.limit.Stop()
	}
	for i := len(s.taken) - 1; i >= 0; i-- {
		s.taken[i].ReleaseInBackground(ctx)
	}
}

// waited reports whether any acquisition had to wait.
func (s *lockSet) waited() bool { return slices.ContainsFunc(s.taken, (*pathlock.Lock).Waited) }

// degraded reports whether any of the locks keeps nobody out.
func (s *lockSet) degraded() bool { return slices.ContainsFunc(s.taken, (*pathlock.Lock).Degraded) }

// remaining returns how much longer the request may wait for others, in all trees and tries
// together, as a [pathlock.Request.Wait].
func (v *visit) remaining() time.Duration {
	if left := time.Until(v.waitsUntil); left > 0 {
		return left
	}
	return pathlock.NoWait
}

// limit ends locks that are held for longer than [Config.MaxHold]. It spares the lock that may have
// to stay with a hold: the end of the request decides about that.
func (m *Locks) limit(ctx context.Context, locks *lockSet) *time.Timer {
	if m.config.MaxHold < 0 || len(locks.taken) == 0 {
		return nil
	}
	return time.AfterFunc(m.config.MaxHold, func() {
		for i := len(locks.taken) - 1; i >= 0; i-- {
			if locks.taken[i] != locks.along {
				locks.taken[i].Abandon(ctx, pathlock.ErrHeldTooLong)
			}
		}
	})
}
