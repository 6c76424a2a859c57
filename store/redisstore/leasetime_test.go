package redisstore

import (
	"strconv"
	"testing"
	"time"
)

// TestLeaseTime: a lease that begins on the server in a millisecond that is all but over lasts there as long as for
// the caller, who begins to count before, and no more than two milliseconds longer.
func TestLeaseTime(t *testing.T) {
	for _, lease := range []time.Duration{
		1, time.Microsecond, time.Millisecond - 1, time.Millisecond, time.Millisecond + 1, 2 * time.Millisecond,
		1500 * time.Microsecond, time.Second, 30*time.Second + 1, time.Hour - 1, 24 * 365 * time.Hour,
	} {
		ms, err := strconv.ParseInt(leaseTime(lease), 10, 64)
		if err != nil {
			t.Fatalf("%v: %v", lease, err)
		}
		for _, over := range []time.Duration{0, 1, time.Microsecond, time.Millisecond / 2, time.Millisecond - 1} {
			if lasts := time.Duration(ms)*time.Millisecond - over; lasts < lease || lasts > lease+2*time.Millisecond {
				t.Errorf("%v, begun %v into a millisecond: %v", lease, over, lasts)
			}
		}
	}
}
