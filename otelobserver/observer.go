package otelobserver

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/label"
)

// Observer traces what a locker does. Give it to the locker by [pathlock.WithObserver].
//
// It never blocks the work. It has no goroutine but those of LinkBlockers.
type Observer interface {
	pathlock.Observer

	// LinkBlockers makes the observer link each recorded wait to the acquisitions that it waits
	// for: those that hold what it asks for, and those ahead of it in the queue. At the beginning
	// of a wait, a goroutine takes a [pathlock.Locker.Snapshot] of the tree. It ends within a
	// second, and no later than the wait; at most four run at once. A wait without such a search is
	// linked, if it is refused, to the acquisition that blocked it.
	//
	// locker is the one that has the observer. Call LinkBlockers before the locker is used.
	LinkBlockers(locker *pathlock.Locker)
}

// observer implements [Observer].
type observer struct {
	pathlock.NopObserver
	tracer trace.Tracer
	paths  bool
	// locker is that of LinkBlockers, and searches has room for each search that runs.
	locker   *pathlock.Locker
	searches chan struct{}
}

// New returns an observer.
func New(opts ...Option) Observer {
	o := &observer{tracer: otel.GetTracerProvider().Tracer(scope), searches: make(chan struct{}, maxSearches)}
	for _, opt := range opts {
		opt(o)
	}
	return o
}

// acquisitionKey is the context key of an acquisition under way.
type acquisitionKey struct{ *observer }

// acquisition is one that is under way, with its spans.
type acquisition struct {
	span trace.Span

	mu sync.Mutex
	// wait is the span of the wait, nil before there is one.
	wait trace.Span
	// unlink ends the search for what the acquisition waits for.
	unlink context.CancelFunc
	ended  bool
}

// Acquiring implements [pathlock.Observer].
func (o *observer) Acquiring(ctx context.Context, e pathlock.Event) context.Context {
	ctx, span := o.tracer.Start(ctx, "pathlock acquire", trace.WithAttributes(o.attributesOf(e)...))
	if parent := traceparent(span.SpanContext()); parent != "" {
		ctx = pathlock.WithOrigin(ctx, pathlock.Origin{Trace: parent})
	}
	return context.WithValue(ctx, acquisitionKey{o}, &acquisition{span: span})
}

// Waiting implements [pathlock.Observer].
func (o *observer) Waiting(ctx context.Context, e pathlock.Event) {
	a, ok := ctx.Value(acquisitionKey{o}).(*acquisition)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended || a.wait != nil {
		return
	}
	_, a.wait = o.tracer.Start(ctx, "pathlock wait")
	if o.locker != nil && a.wait.IsRecording() {
		a.unlink = o.find(a.wait, e)
	}
}

// end ends the spans of an acquisition.
func (o *observer) end(ctx context.Context, e pathlock.Event, outcome string) {
	a, ok := ctx.Value(acquisitionKey{o}).(*acquisition)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	a.ended = true
	if a.unlink != nil {
		a.unlink()
	}
	if a.wait != nil {
		blame(a.wait, e.Err)
		a.wait.End()
	} else {
		blame(a.span, e.Err)
	}
	a.span.SetAttributes(outcomeKey.String(outcome))
	if e.Fence > 0 {
		a.span.SetAttributes(fenceKey.Int64(int64(e.Fence))) //nolint:gosec // No tree has that many grants.
	}
	if e.Err != nil {
		a.span.SetStatus(codes.Error, outcome)
	}
	a.span.End()
}

// blame links the span of a refused acquisition to the one that blocked it.
func blame(span trace.Span, err error) {
	var blocker pathlock.Blocker
	if conflict, ok := errors.AsType[*pathlock.ConflictError](err); ok {
		blocker = conflict.Blocker
	} else if deadlock, ok := errors.AsType[*pathlock.DeadlockError](err); ok {
		blocker = deadlock.Blocker
	}
	if blocker.Origin.Operation != "" {
		span.SetAttributes(blockerKey.String(blocker.Origin.Operation))
	}
	if link, ok := linkTo(blocker.Origin, blocker.Waiting); ok {
		span.AddLink(link)
	}
}

// Granted implements [pathlock.Observer].
func (o *observer) Granted(ctx context.Context, e pathlock.Event) {
	if !e.Reentrant {
		o.end(ctx, e, label.Grant(e))
	}
}

// Refused implements [pathlock.Observer].
func (o *observer) Refused(ctx context.Context, e pathlock.Event) {
	o.end(ctx, e, label.Refusal(e.Err))
}

// Lost implements [pathlock.Observer].
func (o *observer) Lost(ctx context.Context, e pathlock.Event) {
	_, span := o.tracer.Start(ctx, "pathlock lost", trace.WithAttributes(o.attributesOf(e)...))
	span.SetStatus(codes.Error, "lost")
	span.End()
}

// Step implements [pathlock.Observer].
func (o *observer) Step(ctx context.Context, s pathlock.Step) (context.Context, func(error)) {
	ctx, span := o.tracer.Start(ctx, "pathlock "+string(s.Kind), trace.WithAttributes(attemptKey.Int(s.Attempt)))
	return ctx, func(err error) {
		outcome := label.Step(err)
		span.SetAttributes(outcomeKey.String(outcome))
		if err != nil {
			span.SetStatus(codes.Error, outcome)
		}
		span.End()
	}
}

// scope names the instrumentation.
const scope = "github.com/pathlock-go/pathlock/otelobserver"

// Option configures an [Observer].
type Option func(*observer)

// TracerProvider sets the provider of the spans. The default is OpenTelemetry's global one.
func TracerProvider(p trace.TracerProvider) Option {
	return func(o *observer) { o.tracer = p.Tracer(scope) }
}

// Paths adds the tree and the first claims to the spans. Leave it out if readers of the traces must
// not see the names of nodes.
func Paths() Option { return func(o *observer) { o.paths = true } }

// The attributes of spans.
const (
	operationKey = attribute.Key("pathlock.operation")
	outcomeKey   = attribute.Key("pathlock.outcome")
	attemptKey   = attribute.Key("pathlock.attempt")
	routeKey     = attribute.Key("pathlock.route")
	namespaceKey = attribute.Key("pathlock.namespace")
	gateKey      = attribute.Key("pathlock.gate")
	nodesKey     = attribute.Key("pathlock.nodes")
	fenceKey     = attribute.Key("pathlock.fence")
	treeKey      = attribute.Key("pathlock.tree")
	claimsKey    = attribute.Key("pathlock.claims")
	blockerKey   = attribute.Key("pathlock.blocker.operation")
	instanceKey  = attribute.Key("pathlock.blocker.instance")
	waitingKey   = attribute.Key("pathlock.blocker.waiting")
)

// maxClaims is how many claims a span names.
const maxClaims = 8

// attributesOf describes a request to the reader of its span.
func (o *observer) attributesOf(e pathlock.Event) []attribute.KeyValue {
	all := []attribute.KeyValue{
		namespaceKey.String(e.Tree.Namespace()), gateKey.Bool(e.Gate), nodesKey.Int(len(e.Claims)),
	}
	if e.Origin.Operation != "" {
		all = append(all, operationKey.String(e.Origin.Operation))
	}
	if e.Origin.Route != "" {
		all = append(all, routeKey.String(e.Origin.Route))
	}
	if o.paths {
		var claims []string
		for _, c := range e.Claims[:min(len(e.Claims), maxClaims)] {
			claims = append(claims, c.String())
		}
		all = append(all, treeKey.String(e.Tree.String()), claimsKey.StringSlice(claims))
	}
	return all
}
