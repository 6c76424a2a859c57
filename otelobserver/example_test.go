package otelobserver_test

import (
	"context"
	"fmt"

	tracesdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/otelobserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Two users want the same node. The trace of the one that was refused has a link to the trace of
// the one that holds it, although that may be of another process.
func Example() {
	spans := tracetest.NewInMemoryExporter() // a program takes otlptracehttp or otlptracegrpc
	tracers := tracesdk.NewTracerProvider(tracesdk.WithSyncer(spans))
	defer func() { _ = tracers.Shutdown(context.Background()) }()

	traces := otelobserver.New(otelobserver.TracerProvider(tracers))
	locker := pathlock.New(memstore.New(), pathlock.WithObserver(traces))
	traces.LinkBlockers(locker)

	tree, _ := pathlock.NewTree("testplan", "plan-001")
	request := pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))}, Wait: pathlock.NoWait}
	renaming := pathlock.WithOrigin(context.Background(), pathlock.Origin{Operation: "rename"})
	lock, err := locker.Acquire(renaming, request)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = locker.Acquire(context.Background(), request)
	if err := lock.Release(context.Background()); err != nil {
		fmt.Println(err)
	}

	all := spans.GetSpans()
	holder, refused := all[0], all[1]
	fmt.Println(refused.Name, refused.Status.Description)
	for _, link := range refused.Links {
		fmt.Println("linked to the holder:", link.SpanContext.TraceID() == holder.SpanContext.TraceID())
	}
	fmt.Println(all[2].Name)

	// Output:
	// pathlock acquire conflict
	// linked to the holder: true
	// pathlock release
}
