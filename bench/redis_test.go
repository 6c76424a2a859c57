package bench

import (
	"crypto/rand"
	"fmt"
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
			holder, waiter := c.open(b)(tree, leaf), c.open(b)(tree, leaf)
			var total time.Duration
			for b.Loop() {
				total += handOver(b, holder, waiter)
			}
			b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "ns/grant")
			b.ReportMetric(0, "ns/op") // it is the pause before the release, for the most part
		})
	}
}

// handOver has one lock wait for the other, and returns the time from release to grant.
func handOver(b *testing.B, holder, waiter lock) time.Duration {
	b.Helper()
	testerr.Must(b, holder.acquire(b.Context(), false))
	type grant struct {
		at  time.Time
		err error
	}
	granted := make(chan grant, 1)
	go func() {
		err := waiter.acquire(b.Context(), true)
		granted <- grant{time.Now(), err}
	}()
	// No kind of lock tells that its waiter has begun to wait. The pause is in no step with the
	// questions of one that polls.
	pause := make([]byte, 1)
	_, _ = rand.Read(pause)
	time.Sleep(20*time.Millisecond + time.Duration(pause[0])*pollPause/256)
	start := time.Now()
	testerr.Must(b, holder.release(b.Context()))
	g := <-granted
	if g.err != nil {
		b.Fatal(g.err)
	}
	testerr.Must(b, waiter.release(b.Context()))
	return g.at.Sub(start)
}
