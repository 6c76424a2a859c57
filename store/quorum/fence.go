package quorum

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// fenceBits is how many bits of a fence are the number of the member that it comes from.
const fenceBits = 4

// fenceOf returns what a member's fence counts for among those of all members. Two members never
// have the same one.
func (m *member) fenceOf(fence uint64) uint64 {
	if fence == 0 {
		return 0
	}
	return fence<<fenceBits | uint64(m.index)
}

// fence returns the greatest of the fences of a grant.
func fence(places []place) uint64 {
	var greatest uint64
	for _, p := range places {
		greatest = max(greatest, p.member.fenceOf(p.fence))
	}
	return greatest
}

// behind returns for how long the clocks of a majority may still be behind the greatest fence of a
// grant. A member's clock was at its fence when that arrived, or past it.
func (s *Store) behind(places []place, now time.Time) time.Duration {
	var greatest uint64
	for _, p := range places {
		greatest = max(greatest, p.fence)
	}
	lags := make([]time.Duration, 0, len(places))
	for _, p := range places {
		micros := min(greatest-p.fence, uint64(time.Hour/time.Microsecond))
		lags = append(lags, time.Duration(micros)*time.Microsecond-now.Sub(p.came))
	}
	slices.Sort(lags)
	return max(0, lags[s.majority-1])
}

// settleFence waits until every later grant gets a greater fence, whichever majority makes it: the
// clocks of a majority have passed the fence by then, and every other majority has one of them in
// it. Members whose fences are further apart than [WithSkew] says are not waited for.
func (s *Store) settleFence(ctx context.Context, places []place) {
	const shortest = 200 * time.Microsecond // what timers can do
	for {
		lag := s.behind(places, time.Now())
		switch {
		case lag <= 0 || lag > s.config.skew || ctx.Err() != nil || s.life.Err() != nil:
			return
		case lag < shortest:
			runtime.Gosched()
		default:
			timer := time.NewTimer(lag)
			select {
			case <-timer.C:
			case <-ctx.Done():
			case <-s.life.Done():
			}
			timer.Stop()
		}
	}
}
