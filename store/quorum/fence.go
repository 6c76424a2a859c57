package quorum

import (
	"context"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// grant is what one member has answered to a request.
type grant = answer[pathlock.Grant]

// grants are what a majority has granted.
type grants []grant

// of reports whether a member is among those that have granted.
func (g grants) of(m *member) bool {
	return slices.ContainsFunc(g, func(one grant) bool { return one.member == m })
}

// asked returns the moment from which a majority holds the grant for at least its lease.
func (g grants) asked(majority int) time.Time {
	times := make([]time.Time, 0, len(g))
	for _, one := range g {
		times = append(times, one.value.Asked)
	}
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	return times[majority-1]
}

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
func (g grants) fence() uint64 {
	var greatest uint64
	for _, one := range g {
		greatest = max(greatest, one.member.fenceOf(one.value.Fence))
	}
	return greatest
}

// skew is how far apart the members' clocks may be for fences that grow whichever members answer.
const skew = 10 * time.Millisecond

// outlast waits until every later grant gets a greater fence, whichever majority makes it: the
// clocks of a majority have passed the fence by then, and every other majority has one of them in
// it. A member's clock was at its fence when that arrived, or past it. Members whose fences are
// further apart than [skew] are not waited for. It reports false, at once, if that would last until
// after the given time.
func (g grants) outlast(ctx context.Context, majority int, until time.Time) bool {
	greatest := g.fence() >> fenceBits
	behind := make([]time.Duration, 0, len(g))
	for _, one := range g {
		micros := min(greatest-one.value.Fence, uint64(time.Hour/time.Microsecond))
		behind = append(behind, time.Duration(micros)*time.Microsecond-time.Since(one.at))
	}
	slices.Sort(behind)
	lag := behind[majority-1]
	if lag > skew {
		return true
	}
	if lag > max(0, time.Until(until)) {
		return false
	}
	pause(ctx, lag)
	return true
}

// pause waits, at most until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
