package pathlock

import "time"

// SuspendHost makes l see what a suspended host sees when it is resumed: the wall clock has gone
// on, and nothing else has.
func SuspendHost(l *Locker, d time.Duration) {
	l.renewer.mu.Lock()
	defer l.renewer.mu.Unlock()
	l.renewer.clock.wall = func(now time.Time) time.Time { return now.Add(d) }
}
