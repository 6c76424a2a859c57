package otelobserver_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	tracesdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/otelobserver"
)

// plan is the tree that the tests lock in.
var plan = func() pathlock.Tree {
	tree, err := pathlock.NewTree("testplan", "secret-plan-id")
	if err != nil {
		panic(err)
	}
	return tree
}()

// exclusive is a request for a node.
func exclusive(path string, wait time.Duration) pathlock.Request {
	return pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(path))}, Wait: wait, Note: "a note"}
}

// process is a locker that is traced, as in a process of its own.
type process struct {
	*testing.T
	*pathlock.Locker
	spans   *tracetest.InMemoryExporter
	tracers *tracesdk.TracerProvider
}

func newProcess(t *testing.T, store pathlock.Store, opts ...otelobserver.Option) *process {
	t.Helper()
	p := &process{T: t, spans: tracetest.NewInMemoryExporter()}
	p.tracers = tracesdk.NewTracerProvider(tracesdk.WithSyncer(p.spans))
	traces := otelobserver.New(append(opts, otelobserver.TracerProvider(p.tracers))...)
	p.Locker = pathlock.New(store, pathlock.WithObserver(traces), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	traces.LinkBlockers(p.Locker)
	return p
}

// names returns the names of the spans that have ended, as a tree.
func (p *process) tree() string {
	var all strings.Builder
	var write func(parent string, depth int)
	spans := p.spans.GetSpans()
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	write = func(parent string, depth int) {
		for _, s := range spans {
			if s.Parent.SpanID().String() == parent {
				fmt.Fprintf(&all, "%s%s\n", strings.Repeat("  ", depth), s.Name)
				write(s.SpanContext.SpanID().String(), depth+1)
			}
		}
	}
	write("0000000000000000", 0)
	return all.String()
}

// span returns the last span with a name.
func (p *process) span(name string) tracetest.SpanStub {
	p.Helper()
	spans := p.spans.GetSpans()
	for _, s := range slices.Backward(spans) {
		if s.Name == name {
			return s
		}
	}
	p.Fatalf("there is no span %q in\n%s", name, p.tree())
	return tracetest.SpanStub{}
}

// value returns an attribute as text, "" if it is not there.
func value(attributes []attribute.KeyValue, key attribute.Key) string {
	for _, a := range attributes {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}
