//go:build unix

package lease_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/offstore"
)

// renewing counts renewals, and does nothing for them.
type renewing struct {
	pathlock.Store
	leases atomic.Int64
}

func (s *renewing) Renew(_ context.Context, _ pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	s.leases.Add(int64(len(leases)))
	return nil, nil
}

// What it costs the process to keep a lock in one tree alive: the processor's time of one renewal.
// It hardly depends on how many are held.
func BenchmarkRenewal(b *testing.B) {
	for _, trees := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("trees=%d", trees), func(b *testing.B) {
			store := &renewing{Store: offstore.New()}
			l := pathlock.New(store, pathlock.WithLease(6*time.Second))
			var held []*pathlock.Lock
			for i := range trees {
				tree, err := pathlock.NewTree("bench", fmt.Sprint(i))
				if err != nil {
					b.Fatal(err)
				}
				lock, err := l.Acquire(b.Context(), pathlock.Request{Tree: tree, Gate: true})
				if err != nil {
					b.Fatal(err)
				}
				held = append(held, lock)
			}
			for b.Loop() {
				before, renewed := processorTime(b), store.leases.Load()
				time.Sleep(4 * time.Second)
				spent, n := processorTime(b)-before, store.leases.Load()-renewed
				b.ReportMetric(float64(spent.Nanoseconds())/float64(n), "ns-cpu/renewal")
				b.ReportMetric(float64(n)/float64(trees)/4, "renewals/tree/s")
			}
			for _, lock := range held {
				if err := lock.Release(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// processorTime returns what the process has used of the processors.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
