package pathlock

import (
	"sync/atomic"
	"time"
)

// clock tells whether a moment has passed by either of the host's two clocks. The monotonic one
// cannot be set, but stands still while the host is suspended; the wall clock goes on.
type clock struct {
	epoch time.Time
	// wall, where not nil, reads the wall clock in place of the moment that was read.
	wall func(now time.Time) time.Time
}

// deadline is a moment by both clocks, to be read without a mutex.
type deadline struct {
	monotonic atomic.Int64 // nanoseconds since the epoch
	wall      atomic.Int64 // nanoseconds since 1970
}

func newClock() clock { return clock{epoch: time.Now()} }

// set makes d the given moment.
func (c *clock) set(d *deadline, at time.Time) {
	d.wall.Store(at.UnixNano())
	d.monotonic.Store(int64(at.Sub(c.epoch)))
}

// passed reports whether either clock is past d at the moment now.
func (c *clock) passed(d *deadline, now time.Time) bool {
	return int64(now.Sub(c.epoch)) >= d.monotonic.Load() || c.wallAt(now).UnixNano() >= d.wall.Load()
}

// offset returns by how much the wall clock is ahead of the monotonic one: it jumps when the wall
// clock is set, and when the host was suspended.
func (c *clock) offset(now time.Time) time.Duration {
	return time.Duration(c.wallAt(now).UnixNano() - int64(now.Sub(c.epoch)))
}

func (c *clock) wallAt(now time.Time) time.Time {
	if c.wall != nil {
		return c.wall(now)
	}
	return now
}
