package lease_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock/internal/lease"
)

func TestReleases_ARetryIsTriedUntilItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p lease.Releases[string]
		begun, tries := time.Now(), make(chan time.Duration, 9)
		p.Retry("a", func() bool {
			tries <- time.Since(begun)
			return len(tries) == cap(tries)
		})
		end := p.Begin("a")
		if tries, retried := p.UnderWay("a"); len(tries) != 1 || retried != 1 {
			t.Errorf("%d first tries and %d retries are under way, want one each", len(tries), retried)
		}
		time.AfterFunc(10*time.Millisecond, end)
		if first, _ := p.UnderWay("a"); first.Wait(t.Context()) != 0 || time.Since(begun) != 10*time.Millisecond || len(tries) != 0 {
			t.Errorf("waited for %v, with %d retries", time.Since(begun), len(tries))
		}
		if left, failed, _ := p.Close(t.Context()); left != 0 || failed != 0 || len(tries) != 9 {
			t.Errorf("%d left, %d failed, %d tries", left, failed, len(tries))
		}
		last := <-tries
		for i, pause := range []int{100, 200, 400, 800, 1000, 1000, 1000, 1000} {
			next := <-tries
			if got := next - last; got != time.Duration(pause)*time.Millisecond {
				t.Errorf("pause %d is %v, want %d ms", i, got, pause)
			}
			last = next
		}
		if p.Begin("a") != nil {
			t.Error("a release began after Close")
		}
	})
}
