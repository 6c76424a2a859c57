package etcdstore

import "time"

// clock is a process's own clock, in microseconds, as tickets have them. It begins with the time of
// day and goes on evenly, whatever is done to the time of day meanwhile.
type clock struct {
	began  time.Time // with a monotonic reading
	origin time.Time // the same without
}

func newClock() clock {
	now := time.Now()
	return clock{began: now, origin: time.UnixMicro(now.UnixMicro())}
}

func (c clock) now() time.Time { return c.origin.Add(time.Since(c.began).Truncate(time.Microsecond)) }
