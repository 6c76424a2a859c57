package pathlock

import (
	"fmt"
	"time"
)

// term is the time that a holding's lease has.
type term struct {
	lease time.Duration // for how long to renew: the longest that was asked for
	ends  time.Time     // until when the hold is believed in
	until time.Time     // until when the store's lease lives, as far as that is known
	renew time.Time     // when to ask the store next
	// call is the last one that was sent; the answer to an earlier one counts for less.
	call uint64
	// failed is why the store could not answer last, nil where it did.
	failed error
	// over says that the holding is renewed no more.
	over bool
}

// next returns when there is something to do about the lease.
func (t *term) next() time.Time {
	if t.renew.Before(t.ends) {
		return t.renew
	}
	return t.ends
}

// believe notes that the lease is certain to last that long from a moment on, and reports whether
// that is news. A hold that others can end or shorten is believed in for no longer than one lease.
func (t *term) believe(shared bool, from time.Time, lasts time.Duration) bool {
	if until := from.Add(lasts); until.After(t.until) {
		t.until = until
	}
	if shared {
		lasts = min(lasts, t.lease)
	}
	ends := from.Add(lasts)
	if !ends.After(t.ends) {
		return false
	}
	t.ends = ends
	return true
}

// learn notes what the store has said about a hold that is not renewed, also if that is less than
// before.
func (t *term) learn(from time.Time, left time.Duration) {
	t.until, t.ends = from.Add(left), from.Add(min(left, t.lease))
}

// pause returns how long after an answer the store is to be asked again.
func (t *term) pause(shared bool) time.Duration {
	pause := t.lease / 3
	if shared {
		pause = min(pause, longestUnseen)
	}
	return pause
}

// patience returns how long to wait for an answer before the store is asked again: half of the time
// that there is, so that another try has some, too.
func (t *term) patience(now time.Time) time.Duration {
	left := t.ends.Sub(now)
	return max(left/2, min(left, t.lease/10))
}

// whyEnded says why the lease has come to its end.
func (t *term) whyEnded() error {
	if t.failed == nil {
		return errLeaseEnded
	}
	return fmt.Errorf("%w: %w", errLeaseEnded, t.failed)
}
