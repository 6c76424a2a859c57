package pathlock

import (
	"math"
	"sync/atomic"
	"time"
)

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
