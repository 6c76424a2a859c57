package readme

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/prometheus/client_golang/prometheus"
)

// The wiring that the page shows counts what its locker does.
func TestTheObserversOfThePageWork(t *testing.T) {
	locker, shutdown := observed(memstore.New())
	tree, err := pathlock.NewTree("testplan", "1")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Gate: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "pathlock_held_duration_seconds" && f.GetMetric()[0].GetHistogram().GetSampleCount() == 1 {
			return
		}
	}
	t.Error("the lock was not counted")
}
