package lease

import (
	"math"
	"sync/atomic"
	"time"
)

// clock reads both of the host's clocks. The monotonic one cannot be set, but stands still while
// the host is suspended. The wall clock goes on.
type clock struct {
	epoch time.Time
	// ahead is how far tests have set the wall clock forward.
	ahead time.Duration
}

// moment is what both clocks show: nanoseconds since the epoch, and since 1970.
type moment struct{ monotonic, wall int64 }

func (c *clock) at(now time.Time) moment {
	return moment{int64(now.Sub(c.epoch)), now.Add(c.ahead).UnixNano()}
}

// deadline is a moment by both clocks, readable without a mutex.
type deadline struct{ monotonic, wall atomic.Int64 }

// set makes d the moment at. The zero time has always passed.
func (d *deadline) set(c *clock, at time.Time) {
	m := moment{math.MinInt64, math.MinInt64}
	if !at.IsZero() { // nanoseconds since 1970 do not go back to the year 1
		m = moment{int64(at.Sub(c.epoch)), at.UnixNano()}
	}
	d.wall.Store(m.wall)
	d.monotonic.Store(m.monotonic)
}

// passed reports whether either clock has passed d.
func (d *deadline) passed(now moment) bool {
	return now.monotonic >= d.monotonic.Load() || now.wall >= d.wall.Load()
}
