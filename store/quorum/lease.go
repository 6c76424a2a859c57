package quorum

import (
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// allowance returns by how much clocks may differ after a time: by 50 millionths, which is what
// quartz clocks do, and by two milliseconds at least, since members may keep time in those.
func allowance(d time.Duration) time.Duration { return max(2*time.Millisecond, d/20_000) }

// drifted returns the lease that members are asked for, so that it lasts for as long as was asked
// for by this process's clock.
func drifted(lease time.Duration) time.Duration {
	if lease <= 0 || lease >= pathlock.Forever {
		return min(lease, pathlock.Forever)
	}
	return lease + allowance(lease)
}

// undrifted returns how much of a lease that members have is certain.
func undrifted(left time.Duration) time.Duration { return max(0, left-allowance(left)) }

// asked returns the moment from which a majority holds the grant for at least its lease.
func (s *Store) asked(granted []*ask) time.Time {
	times := make([]time.Time, 0, len(granted))
	for _, a := range granted {
		times = append(times, a.grant.Asked)
	}
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	return times[s.majority-1]
}
