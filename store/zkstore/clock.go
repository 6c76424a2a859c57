package zkstore

import (
	"sync"
	"time"
)

// clock knows the time by the clock of ZooKeeper's leader, between two bounds. Every write is
// stamped with it, in milliseconds, at some moment between sending the request and receiving the
// answer: that bounds the distance to this process's clock. Samples narrow the bounds, and the
// drift that clocks may have widens them.
type clock struct {
	start time.Time // the distance is from the time since then

	mu       sync.Mutex
	known    bool
	from, to time.Duration // the distance is at least from, at most to
	at       time.Time     // when it was
}

// drift bounds how fast the distance of two clocks may change: by 1/drift of the time that passes.
// Daemons that discipline a clock change its rate by at most 1/2000.
const drift = 2000

// resolution is the unit of the leader's stamps, which it cuts off.
const resolution = time.Millisecond

func newClock() *clock { return &clock{start: time.Now()} }

// sample notes that the leader's clock showed stamp, in milliseconds since 1970, between sent and
// received. It returns by how much that is later than the clock expected at most: more than 0 if
// the leader's clock was set, or another leader has another clock.
func (c *clock) sample(stamp int64, sent, received time.Time) (ahead time.Duration) {
	shown := time.Duration(stamp) * time.Millisecond
	from, to := shown-received.Sub(c.start), shown+resolution-sent.Sub(c.start)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known {
		low, high := c.bounds(received)
		ahead = max(0, from-high)
		if from <= high && low <= to {
			from, to = max(from, low), min(to, high)
		}
	}
	c.known, c.from, c.to, c.at = true, from, to, received
	return ahead
}

// bounds returns the bounds of the distance at a time. The caller holds c.mu.
func (c *clock) bounds(at time.Time) (low, high time.Duration) {
	widened := max(0, at.Sub(c.at)) / drift
	return c.from - widened, c.to + widened
}

// isFresh reports whether there was a sample in the last minute.
func (c *clock) isFresh() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known && time.Since(c.at) < time.Minute
}

// now returns the earliest that it can be by the leader's clock, and how much later it can be. It
// returns false while there is no sample.
func (c *clock) now() (earliest time.Time, uncertain time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known {
		return time.Time{}, 0, false
	}
	now := time.Now()
	low, high := c.bounds(now)
	return time.Unix(0, 0).Add(low + now.Sub(c.start)).UTC(), high - low, true
}
