package otelobserver_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	tracesdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/otelobserver"
)

// plan is the tree that the tests lock in.
var plan, _ = pathlock.NewTree("testplan", "secret-plan-id") // it is a valid one

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
	linked  map[string]string // names of spans that others are linked to, by nameOf
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

// tree returns the spans that have ended, as a tree: their names, attributes, errors and links.
func (p *process) tree() string {
	var all strings.Builder
	var write func(parent string, depth int)
	spans := p.spans.GetSpans()
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	write = func(parent string, depth int) {
		for _, s := range spans {
			if s.Parent.SpanID().String() != parent {
				continue
			}
			fmt.Fprintf(&all, "%s%s%s", strings.Repeat("  ", depth), s.Name, said(s.Attributes))
			if s.Status.Code == codes.Error {
				fmt.Fprintf(&all, ", error %s", s.Status.Description)
			}
			for _, event := range s.Events {
				fmt.Fprintf(&all, ", event %+v", event)
			}
			for _, link := range s.Links {
				to := cmp.Or(p.linked[nameOf(link.SpanContext)], "another")
				fmt.Fprintf(&all, "\n%s-> %s%s", strings.Repeat("  ", depth+1), to, said(link.Attributes))
			}
			all.WriteString("\n")
			write(s.SpanContext.SpanID().String(), depth+1)
		}
	}
	write("0000000000000000", 0)
	return all.String()
}

// said returns attributes as text, without the namespace, the instance and the numbers.
func said(attributes []attribute.KeyValue) (text string) {
	for _, a := range attributes {
		switch a.Key {
		case "pathlock.namespace", "pathlock.nodes", "pathlock.fence", "pathlock.gate", "pathlock.blocker.instance":
		default:
			text += fmt.Sprintf(" %s=%s", strings.TrimPrefix(string(a.Key), "pathlock."), a.Value.String())
		}
	}
	return text
}

// nameOf tells spans apart.
func nameOf(s trace.SpanContext) string { return fmt.Sprint(s.TraceID(), s.SpanID()) }

// expect compares the spans with a tree.
func (p *process) expect(want string) {
	p.Helper()
	if got := p.tree(); got != want {
		p.Errorf("the spans are\n%s\nwant\n%s", got, want)
	}
}
