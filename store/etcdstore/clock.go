package etcdstore

import "time"

// clock is a process's own clock. It begins with the time of day and goes on evenly, whatever is
// done to the time of day meanwhile. Its times have no monotonic reading, so they are the same
// after they have been written and read.
type clock struct {
	began  time.Time // with a monotonic reading
	origin time.Time // the same without
}

func newClock() clock {
	now := time.Now()
	return clock{began: now, origin: now.Round(0)}
}

func (c clock) now() time.Time { return c.origin.Add(time.Since(c.began)) }
