package pathlock

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// term is the time that a holding's lease has.
type term struct {
	lease time.Duration // the length of each renewal: the longest that was asked for
	ends  time.Time     // until when the locks count as held
	until time.Time     // until when the store's lease lives, as far as is known
	renew time.Time     // when to ask the store next
	// call numbers the latest call. The answer to an earlier one counts for less.
	call uint64
	// failed is the error of the store's latest answer, nil if there was none.
	failed error
	// over says that renewal has ended.
	over bool
}

// next returns when the renewer has to see to the lease.
func (t *term) next() time.Time {
	if t.renew.Before(t.ends) {
		return t.renew
	}
	return t.ends
}

// believe notes that the lease is certain to last that long from a moment on, and reports whether
// that is news. A shared hold, which others can end or shorten, counts for no longer than one
// lease.
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

// learn notes what the store has said about a hold that is not renewed, even if that is less than
// before.
func (t *term) learn(from time.Time, left time.Duration) {
	t.until, t.ends = from.Add(left), from.Add(min(left, t.lease))
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
	left := t.ends.Sub(now)
	return max(left/2, min(left, t.lease/10))
}

// whyEnded returns the reason for the end of the lease.
func (t *term) whyEnded() error {
	if t.failed == nil {
		return errLeaseEnded
	}
	return fmt.Errorf("%w: %w", errLeaseEnded, t.failed)
}

// clock reads both of the host's clocks. The monotonic one cannot be set, but stands still while
// the host is suspended. The wall clock goes on.
type clock struct {
	epoch time.Time
	// wall, where not nil, replaces the wall clock's reading of a moment.
	wall func(now time.Time) time.Time
}

// deadline is a moment by both clocks, readable without a mutex.
type deadline struct {
	monotonic atomic.Int64 // nanoseconds since the epoch
	wall      atomic.Int64 // nanoseconds since 1970
}

func newClock() clock { return clock{epoch: time.Now()} }

// set makes d the moment at. The zero time has always passed.
func (c *clock) set(d *deadline, at time.Time) {
	if at.IsZero() { // nanoseconds since 1970 do not go back to the year 1
		d.wall.Store(math.MinInt64)
		d.monotonic.Store(math.MinInt64)
		return
	}
	d.wall.Store(at.UnixNano())
	d.monotonic.Store(int64(at.Sub(c.epoch)))
}

// passed reports whether either clock has passed d at the moment now.
func (c *clock) passed(d *deadline, now time.Time) bool {
	return int64(now.Sub(c.epoch)) >= d.monotonic.Load() || c.wallAt(now).UnixNano() >= d.wall.Load()
}

// offset returns how far the wall clock is ahead of the monotonic one. It jumps when the wall clock
// is set, and when the host was suspended.
func (c *clock) offset(now time.Time) time.Duration {
	return time.Duration(c.wallAt(now).UnixNano() - int64(now.Sub(c.epoch)))
}

func (c *clock) wallAt(now time.Time) time.Time {
	if c.wall != nil {
		return c.wall(now)
	}
	return now
}
