package bench

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// One acquisition and its release, in a tree that nobody else uses.
func BenchmarkLatency(b *testing.B) {
	for _, depth := range []int{3, 8, 15} {
		for _, c := range []contender{viaRedislock, viaObtainMulti, viaStore, viaLocker} {
			b.Run(fmt.Sprintf("depth=%d/lock=%s", depth, c.name), func(b *testing.B) {
				l := c.open(b)(rand.Text(), leafAt(depth, "case"))
				for b.Loop() {
					testerr.Must(b, l.acquire(b.Context(), false))
					testerr.Must(b, l.release(b.Context()))
				}
			})
		}
	}
}

// The time from the beginning of a release to the grant of the only waiter, in another process.
func BenchmarkWakeUp(b *testing.B) {
	for _, c := range []contender{viaRueidislock, viaRedislock, viaStore, viaLocker} {
		b.Run("lock="+c.name, func(b *testing.B) {
			tree, leaf := rand.Text(), leafAt(3, "case")
			reportHandOvers(b, c.open(b)(tree, leaf), c.open(b)(tree, leaf), func() time.Duration {
				// It is in no step with the questions of one that polls.
				return 20*time.Millisecond + time.Duration(mathrand.Int64N(int64(pollPause)))
			})
		})
	}
}

// reportHandOvers has one lock wait for the other, again and again, and reports the time from
// release to grant. No kind of lock tells that its waiter has begun to wait: there is a pause.
func reportHandOvers(b *testing.B, holder, waiter lock, pause func() time.Duration) {
	b.Helper()
	var total time.Duration
	for b.Loop() {
		testerr.Must(b, holder.acquire(b.Context(), false))
		granted := make(chan time.Time, 1)
		go func() {
			testerr.None(b, waiter.acquire(b.Context(), true))
			granted <- time.Now()
		}()
		time.Sleep(pause())
		start := time.Now()
		testerr.Must(b, holder.release(b.Context()))
		total += (<-granted).Sub(start)
		if b.Failed() {
			b.FailNow()
		}
		testerr.Must(b, waiter.release(b.Context()))
	}
	b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "ns/grant")
	b.ReportMetric(0, "ns/op") // it is the pause before the release, for the most part
}
