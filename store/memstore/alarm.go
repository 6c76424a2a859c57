package memstore

import "time"

// alarm ticks at the earliest lease end while somebody waits. All waiters
// listen to its one channel; the tick reaches one of them, which clears up for all.
type alarm struct {
	timer *time.Timer
	at    time.Time // zero while it is off
}

// ticks returns the channel to listen to.
func (a *alarm) ticks() <-chan time.Time {
	if a.timer == nil {
		a.timer = time.NewTimer(0)
		a.timer.Stop()
	}
	return a.timer.C
}

// set makes the alarm tick at the first of the lease ends, or not at all if nobody waits. The time
// is that of the look at the table which ends: whoever receives a tick looks again after it.
func (a *alarm) set(somebodyWaits bool, l leases, now time.Time) {
	switch {
	case !somebodyWaits || len(l) == 0:
		if !a.at.IsZero() {
			a.timer.Stop()
			a.at = time.Time{}
		}
	case a.at.IsZero() || l[0].until.Before(a.at) || !now.Before(a.at):
		// A lease end that was put off is left as it is: the tick comes early, finds nothing, and
		// sets the next one. That is cheaper than to touch the timer with every renewal.
		a.at = l[0].until
		a.timer.Reset(time.Until(a.at))
	}
}
