package election

import (
	"context"
	"strconv"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Leadership is a won election, from [Election.Campaign] until [Leadership.Resign]. It is safe for
// concurrent use.
type Leadership struct {
	lock *pathlock.Lock
	ctx  context.Context
	own  *candidacy
}

// Context returns the context to lead under. It ends with the context given to Campaign, and when
// the leader resigns. When the leadership is lost, it ends with a cause that matches
// [pathlock.ErrLost], by the clock no later than the lease, so before the next leader begins,
// whether the store answers or not.
//
// After the process or its host was stopped, its Err is right at once, and Done is closed within a
// second. So ask Err before each step that only a leader may take, beside awaiting Done. Contexts
// that descend from it end with Done.
//
// Under it, [Election.Campaign] of the same election returns the same term. Other locks that are
// acquired under it are owned as under the context given to Campaign.
func (l *Leadership) Context() context.Context { return l.ctx }

// Term returns a number that grows strictly with every leader of the election, the fence of its
// lock. A late write of an earlier leader has a smaller one.
func (l *Leadership) Term() uint64 { return l.lock.Fence() }

// Value returns the value that the leader campaigned with, or has proclaimed since.
func (l *Leadership) Value() string { return l.own.value() }

// Proclaim changes the value in the same term, without an election. Observers are woken and see it
// with the next look. Values are as in [Election.Campaign].
//
// Errors are those of [pathlock.Locker.Acquire], and match [pathlock.ErrNotHeld] after the
// resignation. After one that does not match [pathlock.ErrLost] or ErrNotHeld, the leader leads
// with the value that it had.
func (l *Leadership) Proclaim(ctx context.Context, value string) error {
	if err := checkValue(value); err != nil {
		return err
	}
	l.own.proclaiming.Lock()
	defer l.own.proclaiming.Unlock()
	claims := []pathlock.Claim{pathlock.X(seat), pathlock.X(newNode(strconv.FormatUint(l.Term(), 10) + "-"))}
	if err := l.lock.Exchange(ctx, claims, value); err != nil {
		return err
	}
	l.own.latest.Store(&value)
	return nil
}

// Until returns the end of the leadership's lease, as far as it is known here. It moves with every
// renewal: see [pathlock.Lock.Until].
func (l *Leadership) Until() time.Time { return l.lock.Until() }

// Resign ends the leadership, and lets the next candidate lead at once. It does its work even under
// a context that has ended. Errors are those of [pathlock.Lock.Release]: the error matches
// [pathlock.ErrLost] if the leadership was lost before, and [pathlock.ErrNotHeld] if it was
// resigned before. If the store does not answer, the locker retries in the background, and the
// lease ends the leadership at the latest.
func (l *Leadership) Resign(ctx context.Context) error { return l.lock.Release(ctx) }
