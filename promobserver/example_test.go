package promobserver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/promobserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// One observer for a locker, registered with the program's other metrics. A request that collides
// with another is counted by the operations of both.
func Example() {
	locks := promobserver.New()
	registry := prometheus.NewRegistry()
	registry.MustRegister(locks)
	locker := pathlock.New(memstore.New(), pathlock.WithObserver(locks))

	tree, _ := pathlock.NewTree("testplan", "plan-001")
	request := pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))}, Wait: pathlock.NoWait}
	// Package middleware sets the operation of each request. Others do it themselves:
	renaming := pathlock.WithOrigin(context.Background(), pathlock.Origin{Operation: "rename"})
	moving := pathlock.WithOrigin(context.Background(), pathlock.Origin{Operation: "move"})

	lock, err := locker.Acquire(renaming, request)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = locker.Acquire(moving, request)
	fmt.Println("in the way:", errors.Is(err, pathlock.ErrConflict))

	text, _ := testutil.CollectAndFormat(registry, expfmt.TypeTextPlain, "pathlock_acquisitions_total", "pathlock_conflicts_total", "pathlock_held")
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") && !strings.HasSuffix(line, " 0\n") {
			fmt.Print(line)
		}
	}
	if err := lock.Release(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}

	// Output:
	// in the way: true
	// pathlock_acquisitions_total{operation="move",outcome="conflict"} 1
	// pathlock_acquisitions_total{operation="rename",outcome="granted"} 1
	// pathlock_conflicts_total{blocker="rename",operation="move"} 1
	// pathlock_held 1
}

// Exemplars lead from a slow acquisition in a dashboard to its trace. The function says how the
// program's tracing finds the id.
func ExampleTraceID() {
	type traceKey struct{}
	locks := promobserver.New(promobserver.TraceID(func(ctx context.Context) string {
		id, _ := ctx.Value(traceKey{}).(string)
		return id
	}))
	locker := pathlock.New(memstore.New(), pathlock.WithObserver(locks))

	ctx := context.WithValue(context.Background(), traceKey{}, "4bf92f3577b34da6a3ce929d0e0e4736")
	tree, _ := pathlock.NewTree("testplan", "plan-001")
	lock, err := locker.Acquire(ctx, pathlock.Request{Tree: tree, Gate: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = lock.Release(ctx) }()

	text, _ := testutil.CollectAndFormat(locks, expfmt.TypeOpenMetrics, "pathlock_acquire_duration_seconds")
	fmt.Println(strings.Contains(string(text), `{trace_id="4bf92f3577b34da6a3ce929d0e0e4736"}`))

	// Output:
	// true
}
