package lease_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock/internal/lease"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	call = lease.Call[string, int]
	held = lease.Lease[int]
)

// key splits leases into two trees.
func key(holder int) string { return fmt.Sprint(holder % 2) }

// The store answers late, not at all, or with an error, by turns. Every lease is renewed in time as
// long as the store answers, nothing that has ended or was removed is renewed, and a lease ends
// exactly when the store last said so.
func TestRenewer_renewsInTimeOrEndsByTheClock(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(1, 60), 1, 8).Draw(rt, "seconds of each lease")
		outage := time.Duration(rapid.IntRange(0, 90).Draw(rt, "seconds until the store fails")) * time.Second
		removed := rapid.IntRange(0, len(lengths)-1).Draw(rt, "lease that is removed")
		synctest.Test(t, func(t *testing.T) {
			var r *lease.Renewer[string, int]
			begun, ends, over := time.Now(), make([]time.Time, len(lengths)), make([]bool, len(lengths))
			failing := errors.New("failing")
			var mu sync.Mutex
			renewals := 0
			r = lease.NewRenewer(key, func(c *call) {
				mu.Lock()
				defer mu.Unlock()
				c.Sent = time.Now()
				for i, l := range c.Leases {
					if key(l.Holder) != c.Key {
						t.Errorf("lease %d is renewed with those of %s", l.Holder, c.Key)
					}
					if over[l.Holder] {
						t.Errorf("lease %d is renewed after its end", l.Holder)
					}
					if l.Base != nil && len(c.Leases) > 1 {
						t.Errorf("lease %d, which has a base, is renewed with others", l.Holder)
					}
					if time.Since(begun) >= outage {
						r.Failed(c, l, failing)
						continue
					}
					renewals++
					ends[l.Holder] = time.Now().Add(c.Lengths[i])
					r.Answered(c, l, c.Lengths[i])
				}
			}, func(ended []*held) {
				mu.Lock()
				defer mu.Unlock()
				for _, l := range ended {
					over[l.Holder] = true
					if late := time.Since(ends[l.Holder]); late != 0 {
						t.Errorf("lease %d ends %v after the store's", l.Holder, late)
					}
					if why := r.Expire(l); !errors.Is(why, lease.ErrEnded) || !errors.Is(why, failing) {
						t.Errorf("lease %d has ended because of %v", l.Holder, why)
					}
				}
			})
			all := make([]held, len(lengths))
			for i, seconds := range lengths {
				length := time.Duration(seconds) * time.Second
				all[i].Holder = i
				ends[i] = time.Now().Add(length)
				if i > 2 {
					all[i].Base = &all[0]
				}
				r.Extend(&all[i], length, time.Now())
			}
			time.Sleep(outage / 2)
			synctest.Wait()
			mu.Lock()
			for i := range all {
				if over[i] || r.HasEnded(&all[i]) || r.Until(&all[i]).Before(time.Now()) {
					t.Errorf("lease %d has ended while the store answered", i)
				}
			}
			r.Remove(&all[removed])
			over[removed] = true
			mu.Unlock()
			time.Sleep(outage/2 + 2*time.Minute)
			synctest.Wait()
			if slices.Contains(over, false) {
				t.Errorf("a lease outlives the store: %v", over)
			}
			if most := len(lengths) * (4 + 4*int(outage/time.Second)/slices.Min(lengths)); renewals > most {
				t.Errorf("%d renewals, at most %d are needed", renewals, most)
			}
		})
	})
}

// A renewal that nobody has answered is sent again at once, and one that was refused after a tenth
// of the lease.
func TestRenewer_triesAgain(t *testing.T) {
	const length = time.Minute
	for took, pause := range map[time.Duration]time.Duration{time.Second: length/10 - time.Second, length / 3: 0} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var sent []time.Time
			var r *lease.Renewer[string, int]
			r = lease.NewRenewer(key, func(c *call) {
				mu.Lock()
				defer mu.Unlock()
				c.Sent = time.Now()
				if sent = append(sent, c.Sent); len(sent) == 1 {
					time.Sleep(took)
					r.Failed(c, c.Leases[0], errors.New("no answer"))
					return
				}
				r.Answered(c, c.Leases[0], c.Lengths[0])
			}, func([]*held) {})
			l := held{Holder: 1}
			r.Extend(&l, length, time.Now())
			time.Sleep(length/3*2 + time.Second)
			r.Remove(&l)
			synctest.Wait()
			if len(sent) != 2 || sent[1].Sub(sent[0]) != took+pause {
				t.Errorf("after a failure that took %v, it is sent at %v", took, sent)
			}
			time.Sleep(length)
		})
	}
}

// The answer to a call that a later one has overtaken neither plans a renewal nor sets an end.
func TestRenewer_lateAnswerCountsForLess(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			calls := make(chan *call, 10)
			r := lease.NewRenewer(key, func(c *call) {
				c.Sent = time.Now()
				calls <- c
			}, func([]*held) {})
			l := held{Shared: fixed, Fixed: fixed}
			if fixed {
				r.Adopt(&l, 30*time.Second, time.Hour, time.Now())
			} else {
				r.Extend(&l, 30*time.Second, time.Now())
			}
			early, late := <-calls, <-calls
			r.Answered(late, &l, time.Hour)
			if fixed {
				r.Answered(early, &l, time.Millisecond)
			} else if r.Failed(early, &l, errors.New("late")) {
				t.Error("a late failure is news")
			}
			time.Sleep(time.Second / 2)
			if r.HasEnded(&l) || len(calls) > 0 {
				t.Errorf("fixed %v: a late answer counts: ended %v, %d calls", fixed, r.HasEnded(&l), len(calls))
			}
			r.Remove(&l)
		})
	}
}

// A lease that ends just before a further grant prolongs it ends for its holder, too.
func TestRenewer_extendedTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan *held, 1)
		r := lease.NewRenewer(key, func(*call) {}, func(all []*held) { ended <- all[0] })
		l := held{Holder: 1}
		r.Extend(&l, time.Hour, time.Now())
		r.Suspend(time.Hour)
		if r.Extend(&l, time.Minute, time.Now()) {
			t.Error("a lease that has ended lasts")
		}
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("nobody tells the holder")
		}
	})
}

// An expired lease has ended at once, and neither a renewal under way nor a later grant of its
// store revives it.
func TestRenewer_expiredLeaseHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, ended := make(chan *call, 1), make(chan *held, 1)
		r := lease.NewRenewer(key, func(c *call) {
			c.Sent = time.Now()
			calls <- c
		}, func(all []*held) { ended <- all[0] })
		l := held{Holder: 1}
		r.Extend(&l, 30*time.Second, time.Now())
		underWay := <-calls
		if r.HasEnded(&l) {
			t.Error("it has ended before its time")
		}
		if why := r.Expire(&l); !errors.Is(why, lease.ErrEnded) || !r.HasEnded(&l) {
			t.Errorf("expired because of %v, ended: %v", why, r.HasEnded(&l))
		}
		expired := time.Now()
		if <-ended != &l || time.Since(expired) > 0 {
			t.Errorf("its holder ends %v later", time.Since(expired))
		}
		r.Answered(underWay, &l, time.Hour)
		time.Sleep(time.Minute)
		if !r.HasEnded(&l) || len(calls) > 0 {
			t.Errorf("it lives again: ended %v, %d calls", r.HasEnded(&l), len(calls))
		}
	})
}
