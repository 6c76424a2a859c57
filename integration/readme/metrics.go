package readme

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/otelobserver"
	"github.com/pathlock-go/pathlock/promobserver"
)

func observed(store pathlock.Store) (locker *pathlock.Locker, shutdown func(context.Context) error) {
	traces := otelobserver.New()
	locks := promobserver.New(promobserver.TraceID(traceOf))
	prometheus.MustRegister(locks)
	// The first observer is the outermost: the metrics' exemplars name its spans.
	locker = pathlock.New(store, pathlock.WithObserver(traces), pathlock.WithObserver(locks))
	traces.LinkBlockers(locker)
	return locker, traces.Shutdown
}

func traceOf(ctx context.Context) string {
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		return span.TraceID().String()
	}
	return ""
}
