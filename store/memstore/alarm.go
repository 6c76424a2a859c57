package memstore

import "time"

// alarm ticks at the earliest lease end while somebody waits. All waiters listen to its one
// channel. The tick reaches one of them, which clears up for all.
type alarm struct {
	timer *time.Timer
	at    time.Time // zero before the first one
}

// ticks returns the channel to listen to.
func (a *alarm) ticks() <-chan time.Time {
	if a.timer == nil {
		a.timer = time.NewTimer(0)
		a.timer.Stop()
	}
	return a.timer.C
}

// set makes the alarm tick at the first of the lease ends, if somebody waits and a lease runs. now
// is when the table was entered: a tick until then has been dealt with.
func (a *alarm) set(somebodyWaits bool, first time.Time, runs bool, now time.Time) {
	// Neither a renewal nor the last waiter's leaving moves the alarm. The tick comes early then,
	// finds nothing, and sets the next one, or reaches nobody. That costs less than resetting the
	// timer with every renewal.
	if somebodyWaits && runs && (a.at.IsZero() || first.Before(a.at) || !now.Before(a.at)) {
		a.at = first
		a.timer.Reset(time.Until(a.at))
	}
}
