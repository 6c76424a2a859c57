package zkstore

import (
	"testing"
	"testing/synctest"
	"time"
)

// leader is a clock that is off by a distance and cuts off milliseconds.
func (c *clock) ask(distance, there, back time.Duration) (ahead time.Duration) {
	sent := time.Now()
	time.Sleep(there)
	stamp := time.Now().Add(distance).UnixMilli()
	time.Sleep(back)
	return c.sample(stamp, sent, time.Now())
}

// holds reports whether the leader's time is between the bounds, and how far these are apart.
func (c *clock) holds(t *testing.T, distance time.Duration) time.Duration {
	t.Helper()
	now, uncertain, ok := c.now()
	if !ok {
		t.Fatal("the clock knows nothing")
	}
	actual := time.Now().Add(distance)
	if actual.Before(now) || actual.After(now.Add(uncertain)) {
		t.Fatalf("the leader's clock shows %v, not between %v and %v later", actual, now, uncertain)
	}
	return uncertain
}

func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		if _, _, ok := c.now(); ok {
			t.Error("a clock without samples knows the time")
		}
		distance := 3*time.Hour + 123456*time.Microsecond
		c.ask(distance, 20*time.Millisecond, 10*time.Millisecond)
		if wide := c.holds(t, distance); wide > 31*time.Millisecond {
			t.Errorf("after 30 ms, the clock is off by up to %v", wide)
		}
		c.ask(distance, 100*time.Microsecond, 300*time.Microsecond)
		if wide := c.holds(t, distance); wide > 1500*time.Microsecond {
			t.Errorf("after 0.4 ms, the clock is off by up to %v", wide)
		}
		c.ask(distance, time.Second, time.Second)
		if wide := c.holds(t, distance); wide > 5*time.Millisecond {
			t.Errorf("a slow sample has spoilt the bounds: %v", wide)
		}
		// The clocks drift apart as fast as they may.
		for range 100 {
			time.Sleep(20 * time.Second)
			distance += 10 * time.Millisecond
			c.holds(t, distance)
			c.ask(distance, time.Millisecond, time.Millisecond)
			c.holds(t, distance)
		}
	})
}

func TestClockOfAnotherLeader(t *testing.T) {
	for _, jump := range []time.Duration{-time.Hour, -time.Second, time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			c := newClock()
			c.ask(0, time.Millisecond, time.Millisecond)
			ahead := c.ask(jump, time.Millisecond, time.Millisecond)
			c.holds(t, jump)
			if jump > 0 && (ahead > jump || ahead < jump-10*time.Millisecond) || jump < 0 && ahead != 0 {
				t.Errorf("the clock has gone by %v: %v forward, it says", jump, ahead)
			}
		})
	}
}
