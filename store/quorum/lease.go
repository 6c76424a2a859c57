package quorum

import (
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// leastDrift is the least by which members' leases are longer: they may keep time in milliseconds.
const leastDrift = 2 * time.Millisecond

// drifted returns the lease that members are asked for, so that it lasts for as long as was asked
// for by this process's clock.
func (c *config) drifted(lease time.Duration) time.Duration {
	if lease <= 0 || lease >= pathlock.Forever {
		return lease
	}
	return lease + c.allowance(lease)
}

// undrifted returns how much of a lease that members have is certain.
func (c *config) undrifted(left time.Duration) time.Duration {
	return max(0, left-c.allowance(left))
}

// allowance returns by how much clocks may differ after a time.
func (c *config) allowance(d time.Duration) time.Duration {
	return max(leastDrift, time.Duration(float64(d)*c.drift))
}

// asked returns the moment from which a majority holds the grant for at least its lease.
func (s *Store) asked(places []place) time.Time {
	times := make([]time.Time, 0, len(places))
	for _, p := range places {
		times = append(times, p.asked)
	}
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	return times[s.majority-1]
}

// ended reports whether a lease that was asked for at that time may have ended by now. While a host
// is suspended the wall clock goes on, and the monotonic clock may stand still: the longer one
// counts.
func ended(asked time.Time, lease time.Duration) bool {
	now := time.Now()
	return max(now.Sub(asked), now.Round(0).Sub(asked.Round(0))) >= lease
}
