package pathlock

import (
	"fmt"
	"time"
)

// term is the time that a holding's lease has.
type term struct {
	lease        time.Duration // the length of each renewal: the longest that was asked for
	trustedUntil time.Time     // until when the locks count as held
	storedUntil  time.Time     // until when the lease lives in the store, as far as is known
	renew        time.Time     // when to ask the store next
	// call numbers the latest call. The answer to an earlier one counts for less.
	call uint64
	// failed is the error of the store's latest answer, nil if there was none.
	failed error
	// over says that renewal has ended.
	over bool
}

// next returns when the renewer has to see to the lease.
func (t *term) next() time.Time {
	if t.renew.Before(t.trustedUntil) {
		return t.renew
	}
	return t.trustedUntil
}

// believe notes that the lease is certain to last that long from a moment on, and reports whether
// that is news. A shared hold, which others can end or shorten, counts for no longer than one
// lease.
func (t *term) believe(shared bool, from time.Time, lasts time.Duration) bool {
	if until := from.Add(lasts); until.After(t.storedUntil) {
		t.storedUntil = until
	}
	if shared {
		lasts = min(lasts, t.lease)
	}
	ends := from.Add(lasts)
	if !ends.After(t.trustedUntil) {
		return false
	}
	t.trustedUntil = ends
	return true
}

// learn notes what the store has said about a hold that is not renewed, even if that is less than
// before.
func (t *term) learn(from time.Time, left time.Duration) {
	t.storedUntil, t.trustedUntil = from.Add(left), from.Add(min(left, t.lease))
}

// pause returns how long after an answer the store is asked again.
func (t *term) pause(shared bool) time.Duration {
	pause := t.lease / 3
	if shared {
		pause = min(pause, longestUnseen)
	}
	return pause
}

// patience returns how long to wait for an answer before the store is asked again. It is half of
// the time left, so that another try has some too.
func (t *term) patience(now time.Time) time.Duration {
	left := t.trustedUntil.Sub(now)
	return max(left/2, min(left, t.lease/10))
}

// whyEnded returns the reason for the end of the lease.
func (t *term) whyEnded() error {
	if t.failed == nil {
		return errLeaseEnded
	}
	return fmt.Errorf("%w: %w", errLeaseEnded, t.failed)
}
