// Package lease renews leases, and retries releases. A [Renewer] knows when each lease is due,
// which ones to renew in one call, and how long each counts as held, whatever the store answers.
// [Releases] are what lockers release, and stores take back, in the background: first tries and
// retries. The package knows neither stores nor locks.
package lease

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// ErrEnded says that a lease has ended by the clock.
var ErrEnded = errors.New("the lease ended before it could be renewed")

// longestUnseen is how long a lease that others can end or shorten goes without a look.
const longestUnseen = time.Second

// Lease is the time for which something is held, by a holder of type H. The exported fields are set
// before the lease goes to a [Renewer], whose mutex guards the others.
type Lease[H any] struct {
	Holder H
	// Shared says that others may end the lease, or set another end.
	Shared bool
	// Fixed says that the lease is only looked at, and not renewed.
	Fixed bool
	// Base, if not nil, is the lease that this one cannot outlive.
	Base *Lease[H]

	length       time.Duration // of each renewal: the longest that was asked for
	trustedUntil time.Time     // until when it counts as held
	storedUntil  time.Time     // until when it lives in the store, as far as is known
	renew        time.Time     // when to ask the store next
	// call numbers the latest call. The answer to an earlier one counts for less.
	call uint64
	// failed is the error of the store's latest answer, nil if there was none.
	failed error
	index  int // in the renewer's list, if it is listed
	listed bool
	over   bool // the renewer no longer has it
	// deadline is trustedUntil, readable without the mutex.
	deadline deadline
}

// alone reports whether the lease is renewed in a call of its own. A lease with a Base is: other
// leases of its owner may be due as well, and answers name only owners.
func (l *Lease[H]) alone() bool { return l.Fixed || l.Base != nil }

// next returns when the lease has to be renewed, or ended.
func (l *Lease[H]) next() time.Time {
	if l.renew.Before(l.trustedUntil) {
		return l.renew
	}
	return l.trustedUntil
}

// isDue reports whether the lease is to be renewed now. One that is nearly due counts, so that the
// timer fires once for many.
func (l *Lease[H]) isDue(now time.Time) bool { return !l.renew.After(now.Add(l.pause() / 30)) }

// isSoon reports whether a renewal of other leases of its key includes the lease.
func (l *Lease[H]) isSoon(now time.Time) bool {
	return !l.alone() && !l.renew.After(now.Add(l.length/6))
}

// believe notes that the lease is certain to last that long from a moment on, and reports whether
// that is news. A shared one counts for no longer than one length.
func (l *Lease[H]) believe(from time.Time, lasts time.Duration) bool {
	if until := from.Add(lasts); until.After(l.storedUntil) {
		l.storedUntil = until
	}
	if l.Shared {
		lasts = min(lasts, l.length)
	}
	ends := from.Add(lasts)
	if !ends.After(l.trustedUntil) {
		return false
	}
	l.trustedUntil = ends
	return true
}

// learn records the store's answer about a lease that is not renewed, even if less time is left
// than before.
func (l *Lease[H]) learn(from time.Time, left time.Duration) {
	l.storedUntil, l.trustedUntil = from.Add(left), from.Add(min(left, l.length))
}

// patience returns how long to wait for an answer before the store is asked again. It is half of
// the time left, so that another try has some too.
func (l *Lease[H]) patience(now time.Time) time.Duration {
	left := l.trustedUntil.Sub(now)
	return max(left/2, min(left, l.length/10))
}

// whyEnded returns the reason for the end of the lease.
func (l *Lease[H]) whyEnded() error {
	if l.failed == nil {
		return ErrEnded
	}
	return fmt.Errorf("%w: %w", ErrEnded, l.failed)
}

// deadline is a moment by both of the host's clocks, readable without a mutex. It is nanoseconds
// since the renewer's epoch, and since 1970. The monotonic clock cannot be set, but stands still
// while the host is suspended. The wall clock goes on.
type deadline struct{ monotonic, wall atomic.Int64 }

// set makes d the moment at. The zero time has always passed.
func (d *deadline) set(epoch, at time.Time) {
	monotonic, wall := int64(math.MinInt64), int64(math.MinInt64)
	if !at.IsZero() { // nanoseconds since 1970 do not go back to the year 1
		monotonic, wall = int64(at.Sub(epoch)), at.UnixNano()
	}
	d.wall.Store(wall)
	d.monotonic.Store(monotonic)
}
