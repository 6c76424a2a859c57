package otelobserver_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	tracesdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/otelobserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

// doing returns a context of an operation.
func doing(ctx context.Context, operation string) context.Context {
	return pathlock.WithOrigin(ctx, pathlock.Origin{Operation: operation, Route: "PATCH /suites/:id"})
}

// A wait in one process is linked to the acquisitions in another that it waits for: the holder, and
// who is before it in the queue.
func TestObserver_linksAWaitToItsBlockers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		a, b := newProcess(t, store), newProcess(t, store)
		holder, err := a.Acquire(doing(t.Context(), "rename"), exclusive("/a", 0))
		testerr.Must(t, err)
		b.linked = map[string]string{nameOf(a.spans.GetSpans()[0].SpanContext): "the holder"}
		ended := make(chan error)
		wait := func(p *process, operation string, wait time.Duration) {
			go func() {
				lock, err := p.Acquire(doing(t.Context(), operation), exclusive("/a", wait))
				if err == nil {
					err = lock.Release(t.Context())
				}
				ended <- err
			}()
			synctest.Wait()
		}
		wait(a, "copy", time.Minute)
		wait(b, "move", 2*time.Second)
		testerr.MustBe(t, "the move", <-ended, pathlock.ErrConflict)
		b.expect(`pathlock acquire operation=move route=PATCH /suites/:id outcome=conflict, error conflict
  pathlock wait blocker.operation=rename
    -> the holder blocker.waiting=false blocker.operation=rename
    -> another blocker.waiting=true blocker.operation=copy
    -> the holder blocker.waiting=false blocker.operation=rename
`)
		testerr.Must(t, errors.Join(holder.Release(t.Context()), <-ended))
	})
}

// No span says what is locked.
func TestObserver_nestsStepsInTheirContexts(t *testing.T) {
	p := newProcess(t, memstore.New())
	ctx, request := p.tracers.Tracer("a program's own").Start(t.Context(), "request")
	_, resolved := p.Step(ctx, pathlock.Step{Kind: pathlock.StepResolve})
	resolved(nil)
	lock, err := p.Acquire(doing(ctx, "rename"), exclusive("/secret", 0))
	testerr.Must(t, err)
	under, handled := p.Step(lock.Context(), pathlock.Step{Kind: pathlock.StepHandler})
	_, asserted := p.Step(under, pathlock.Step{Kind: pathlock.StepAssert, Attempt: 2})
	asserted(fmt.Errorf("suites 3 at /secret: %w", pathlock.ErrPathChanged))
	_, committed := p.Step(under, pathlock.Step{Kind: pathlock.StepCommit})
	committed(nil)
	handled(nil)
	testerr.Must(t, lock.Release(ctx))
	request.End()
	p.expect(`request
  pathlock resolve attempt=1 outcome=ok
  pathlock acquire operation=rename route=PATCH /suites/:id outcome=granted
  pathlock handler attempt=1 outcome=ok
    pathlock assert attempt=2 outcome=path-changed, error path-changed
    pathlock commit attempt=1 outcome=ok
  pathlock release attempt=1 outcome=ok
`)
}

func TestObserver_pathsAreNamedOnRequest(t *testing.T) {
	p := newProcess(t, memstore.New(), otelobserver.Paths())
	lock, err := p.Acquire(t.Context(), exclusive("/secret", 0))
	testerr.Must(t, err)
	testerr.Must(t, lock.Release(t.Context()))
	p.expect(`pathlock acquire tree=testplan/secret-plan-id claims=["X /secret"] outcome=granted
pathlock release attempt=1 outcome=ok
`)
}

func TestObserver_lostLeaseIsASpanOfItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, memstore.New())
		ctx, request := p.tracers.Tracer("a program's own").Start(t.Context(), "request")
		lock, err := p.Acquire(ctx, exclusive("/a", 0))
		testerr.Must(t, err)
		testerr.Must(t, p.ForceRelease(t.Context(), plan, p.Scope(lock.Context()).Owner()))
		<-lock.Context().Done()
		synctest.Wait()
		_ = lock.Release(t.Context())
		request.End()
		p.expect(`pathlock release attempt=1 outcome=lost, error lost
request
  pathlock acquire outcome=granted
  pathlock lost, error lost
`)
	})
}

// slow is a store whose snapshots end with their context.
type slow struct {
	pathlock.Store
	running atomic.Int32
}

func (s *slow) Snapshot(ctx context.Context, _ pathlock.Tree) (pathlock.Snapshot, error) {
	s.running.Add(1)
	defer s.running.Add(-1)
	<-ctx.Done()
	return pathlock.Snapshot{}, ctx.Err()
}

func TestObserver_searchesForBlockersAreFewAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slow{Store: memstore.New()}
		p := newProcess(t, store)
		holder, err := p.Acquire(t.Context(), exclusive("/a", 0))
		testerr.Must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		expect := func(when string, waits, want int32) {
			t.Helper()
			for range waits {
				go func() { _, _ = p.Acquire(ctx, exclusive("/a", time.Hour)) }()
			}
			synctest.Wait()
			if got := store.running.Load(); got != want {
				t.Errorf("%s: %d searches run, want %d", when, got, want)
			}
		}
		expect("ten waits", 10, 4)
		time.Sleep(time.Second)
		expect("a second later", 0, 0)
		expect("another wait", 1, 1)
		cancel()
		expect("after its end", 0, 0)
		testerr.None(t, holder.Release(t.Context()))
	})
}
