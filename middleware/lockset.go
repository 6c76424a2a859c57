package middleware

import (
	"context"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// lockSet is what one request holds, in the order in which it was taken. nil is nothing.
type lockSet struct {
	taken []*pathlock.Lock
	one   [1]*pathlock.Lock // the place of taken, which is hardly ever longer
	limit *time.Timer
	// along is the lock among them with which the token's hold follows a node that moves, nil if
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

// budget is the time that one request may wait for others, in all trees and tries together.
type budget struct{ ends time.Time }

// newBudget returns a budget that begins now. It is empty for [pathlock.NoWait].
func newBudget(wait time.Duration) budget {
	return budget{time.Now().Add(max(wait, 0))}
}

// remaining returns what is left, as a [pathlock.Request.Wait].
func (b budget) remaining() time.Duration {
	if left := time.Until(b.ends); left > 0 {
		return left
	}
	return pathlock.NoWait
}

// limit ends locks that are held for longer than [Config.MaxHold]. It spares the lock that may have
// to stay with a hold, which the end of the request decides.
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
