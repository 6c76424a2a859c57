package redisstore

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// TestLeaseTime: a lease that begins on the server in a millisecond that is all but over lasts
// there as long as for the caller, who begins to count before, and no more than two milliseconds
// longer.
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

// TestLeaseShorterThanTheWay: a lease that is over before its grant can arrive is asked for a few
// times, and nothing stays.
func TestLeaseShorterThanTheWay(t *testing.T) {
	for _, wait := range []time.Duration{0, long} {
		store, req := newStore(t), ask(newTree(t), x("/a"))
		req.Lease, req.Wait = 1, wait
		if _, err := store.Acquire(t.Context(), req); !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("a lease of a nanosecond, with a wait of %v: %v, want ErrUnavailable", wait, err)
		}
		other := ask(req.Tree, x("/a"))
		other.Wait = long
		take(t, store, other)
	}
}
