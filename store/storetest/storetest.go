package storetest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Run checks that a store keeps every promise of [pathlock.Store]. It calls newStore once for each
// promise, concurrently. The stores may share a server with anybody. newStore registers what has to
// be closed or removed afterwards with t.Cleanup.
//
// All tests have ended when Run returns. For options, see [Crash], [Leases], [Silence] and
// [Virtual].
func Run(t *testing.T, newStore func(t *testing.T) pathlock.Store, options ...Option) {
	t.Helper()
	s := suite{short: 500 * time.Millisecond}
	for _, option := range options {
		option(&s)
	}
	t.Run("promises", func(t *testing.T) { // which waits for all of them
		for _, topic := range append([]topic{s.silences(), s.crashes(), s.closing(newStore), s.betweenClients()}, topics()...) {
			t.Run(topic.name, func(t *testing.T) {
				t.Parallel()
				for _, promise := range topic.promises {
					t.Run(promise.name, func(t *testing.T) {
						t.Parallel()
						check := func(t *testing.T) { promise.check(s.newFixture(t, newStore(t))) }
						if s.virtual {
							synctest.Test(t, check)
						} else {
							check(t)
						}
					})
				}
			})
		}
	})
}

// topic is a chapter of the specification.
type topic struct {
	name     string
	promises []promise
}

// promise is one sentence of the specification, and its test.
type promise struct {
	name  string
	check func(f *fixture)
}

func topics() []topic {
	return []topic{
		compatibility(),
		model(),
		fairness(),
		givingUp(),
		leases(),
		extremes(),
		concurrentRequests(),
		gate(),
		force(),
		outliving(),
		apart(),
		snapshots(),
		hostile(),
	}
}
