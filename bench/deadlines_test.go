package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

const (
	// hurried goroutines make requests with a deadline each, to a Redis that is distance away.
	hurried  = 40
	hurry    = time.Second
	distance = 4 * time.Millisecond
	// besideLease ends during a turn, unless it is renewed in the midst of all that.
	besideLease = 3600 * time.Millisecond
	turn        = 5 * time.Second
)

// Goroutines with deadlines share a store at a distance. Everything but the number of granted
// requests should be 0: a failed request, one that ends a tenth of a second after its deadline, a
// lock left behind in Redis once Shutdown has returned, and the loss of a lock that is held beside.
func BenchmarkDeadlines(b *testing.B) {
	near := testserver.Redis(b)
	u, err := url.Parse(near)
	testerr.Must(b, err)
	proxy := testnet.StartProxy(b, u.Host, distance)
	u.Host = proxy.Addr()
	nearby, store := newStore(b, near), newStore(b, u.String())
	var granted, failed, late, left, lost atomic.Int64
	turns := 0
	for b.Loop() {
		turns++
		locker := newLocker(store)
		beside, err := locker.Acquire(b.Context(), pathlock.Request{Tree: treeOf(b, rand.Text()), Gate: true, Lease: besideLease})
		testerr.Must(b, err)
		load := treeOf(b, rand.Text())
		over := time.Now().Add(turn)
		var work sync.WaitGroup
		for g := range hurried {
			work.Go(func() {
				for n := 0; time.Now().Before(over); n++ {
					began := time.Now()
					ctx, cancel := context.WithTimeout(b.Context(), hurry)
					l, err := locker.Acquire(ctx, pathlock.Request{Tree: load, Wait: pathlock.NoWait,
						Claims: []pathlock.Claim{pathlock.X(leafAt(3, fmt.Sprintf("case-%d-%d", g, n)))}})
					cancel()
					if time.Since(began) > hurry+hurry/10 {
						late.Add(1)
					}
					if err != nil {
						failed.Add(1)
						continue
					}
					granted.Add(1)
					l.ReleaseInBackground(b.Context())
				}
			})
		}
		work.Wait()
		if beside.Context().Err() != nil {
			lost.Add(1)
		}
		beside.ReleaseInBackground(b.Context())
		settle, stop := context.WithTimeout(b.Context(), 2*turn)
		_ = locker.Shutdown(settle) // what is left is counted
		stop()
		snapshot, err := nearby.Snapshot(b.Context(), load)
		testerr.Must(b, err)
		left.Add(int64(len(snapshot.Holders)))
	}
	for unit, n := range map[string]*atomic.Int64{"granted": &granted, "failed": &failed, "late": &late, "left": &left, "lost": &lost} {
		b.ReportMetric(float64(n.Load())/float64(turns), unit)
	}
	b.ReportMetric(0, "ns/op")
}
