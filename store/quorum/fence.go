package quorum

import (
	"context"
	"slices"
	"time"
)

// fenceBits is how many bits of a fence are the number of the member that it comes from.
const fenceBits = 4

// skew is how far apart the members' clocks may be for fences that grow whichever members answer.
const skew = 10 * time.Millisecond

// fenceOf returns what a member's fence counts for among those of all members. Two members never
// have the same one.
func (m *member) fenceOf(fence uint64) uint64 {
	if fence == 0 {
		return 0
	}
	return fence<<fenceBits | uint64(m.index)
}

// fence returns the greatest of the fences of a grant.
func fence(granted []*ask) uint64 {
	var greatest uint64
	for _, a := range granted {
		greatest = max(greatest, a.member.fenceOf(a.grant.Fence))
	}
	return greatest
}

// settleFence waits until every later grant gets a greater fence, whichever majority makes it: the
// clocks of a majority have passed the fence by then, and every other majority has one of them in
// it. A member's clock was at its fence when that arrived, or past it. Members whose fences are
// further apart than [skew] are not waited for.
func (s *Store) settleFence(ctx context.Context, granted []*ask) {
	greatest := fence(granted) >> fenceBits
	behind := make([]time.Duration, 0, len(granted))
	for _, a := range granted {
		micros := min(greatest-a.grant.Fence, uint64(time.Hour/time.Microsecond))
		behind = append(behind, time.Duration(micros)*time.Microsecond-time.Since(a.came))
	}
	slices.Sort(behind)
	lag := behind[s.majority-1]
	if lag <= 0 || lag > skew {
		return
	}
	timer := time.NewTimer(lag)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
