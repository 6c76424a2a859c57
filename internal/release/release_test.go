package release_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/internal/release"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestARetryIsTriedUntilItIsOverOrAtOnceForWhoeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p release.Pending[string]
		begun, tries := time.Now(), make(chan time.Duration, 9)
		p.Retry("a", func() bool {
			tries <- time.Since(begun)
			return len(tries) == cap(tries)
		})
		end := p.Begin("a")
		if n := len(p.UnderWay("a")); n != 2 || len(p.UnderWay("b")) != 0 {
			t.Errorf("%d releases are under way, want 2", n)
		}
		time.AfterFunc(10*time.Millisecond, end)
		if left := p.UnderWay("a").Wait(t.Context()); left != 0 || time.Since(begun) != 10*time.Millisecond || len(tries) != 1 {
			t.Errorf("%d left after %v and %d tries", left, time.Since(begun), len(tries))
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

func TestNobodyWaitsBeyondItsContextAndFailuresAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p release.Pending[string]
		end := p.Begin("a")
		p.Begin("b")()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if left := p.UnderWay("a").Wait(ctx); left != 1 {
			t.Errorf("%d left, want 1", left)
		}
		if left, _, _ := p.Close(ctx); left != 1 {
			t.Errorf("%d left at Close, want 1", left)
		}
		end()
		why := errors.New("why")
		p.GiveUp(errors.New("earlier"))
		p.GiveUp(why)
		if left, failed, err := p.Close(t.Context()); left != 0 || failed != 2 || !errors.Is(err, why) {
			t.Errorf("%d left, %d failed because of %v", left, failed, err)
		}
	})
}
