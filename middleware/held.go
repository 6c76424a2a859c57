package middleware

import (
	"context"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/bridge"
)

// ErrHeldTooLong is the cause with which the handler's context ends when the request has held its
// locks for [Config.MaxHold]: that of [pathlock.Request.MaxHold].
var ErrHeldTooLong = pathlock.ErrHeldTooLong

// held is what one request holds, in the order in which it was taken. nil is nothing.
type held struct {
	taken []*pathlock.Lock
	limit *time.Timer
	// along is the lock among them with which the token's hold follows a node that moves, nil if
	// there is none.
	along *pathlock.Lock
}

// context returns the context of the innermost lock, which carries the scope of all and ends with
// each.
func (h *held) context(outer context.Context) context.Context {
	if h == nil || len(h.taken) == 0 {
		return outer
	}
	return h.taken[len(h.taken)-1].Context()
}

// release releases everything, the last lock first. The locker logs and retries what fails.
func (h *held) release(ctx context.Context) {
	if h == nil {
		return
	}
	if h.limit != nil {
		h.limit.Stop()
	}
	for i := len(h.taken) - 1; i >= 0; i-- {
		h.taken[i].ReleaseInBackground(ctx)
	}
}

// waited reports whether any acquisition had to wait.
func (h *held) waited() bool { return slices.ContainsFunc(h.taken, (*pathlock.Lock).Waited) }

// degraded reports whether any of the locks keeps nobody out.
func (h *held) degraded() bool { return slices.ContainsFunc(h.taken, (*pathlock.Lock).Degraded) }

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
func (m *Locks) limit(ctx context.Context, locks *held) *time.Timer {
	if m.config.MaxHold < 0 || len(locks.taken) == 0 {
		return nil
	}
	return time.AfterFunc(m.config.MaxHold, func() {
		for i := len(locks.taken) - 1; i >= 0; i-- {
			if locks.taken[i] != locks.along {
				bridge.LockOf(locks.taken[i].Context()).Abandon(ctx, ErrHeldTooLong)
			}
		}
	})
}
