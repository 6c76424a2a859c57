package otelobserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/label"
)

// Observer traces and counts what a locker does. Give it to the locker by [pathlock.WithObserver].
//
// It never blocks the work. It has no goroutine but those of [Observer.LinkBlockers].
type Observer struct {
	settings
	instruments
	tracer trace.Tracer
	// locker is that of [Observer.LinkBlockers], and searches has room for each search that runs.
	locker   *pathlock.Locker
	searches chan struct{}
}

var _ pathlock.Observer = (*Observer)(nil)

// New returns an observer. What a provider cannot make is reported to OpenTelemetry's error
// handler, and not observed.
func New(opts ...Option) *Observer {
	o := &Observer{
		settings: settings{
			tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider(), operations: label.NewOperations(label.MaxOperations),
		},
		searches: make(chan struct{}, maxSearches),
	}
	for _, opt := range opts {
		opt(&o.settings)
	}
	o.tracer = o.tracers.Tracer(scope)
	var err error
	if o.instruments, err = newInstruments(o.meters.Meter(scope)); err != nil {
		otel.Handle(err)
	}
	return o
}

// acquisitionKey is the context key of an acquisition under way.
type acquisitionKey struct{ *Observer }

// acquisition is one that is under way, with its spans.
type acquisition struct {
	span trace.Span

	mu sync.Mutex
	// wait is the span of the wait, nil before there is one.
	wait      trace.Span
	waitBegan time.Duration // after the acquisition did
	// unlink ends the search for those waited for.
	unlink context.CancelFunc
	ended  bool
}

// Acquiring implements [pathlock.Observer].
func (o *Observer) Acquiring(ctx context.Context, e pathlock.Event) context.Context {
	ctx, span := o.tracer.Start(ctx, "pathlock acquire", trace.WithAttributes(o.attributesOf(e)...))
	if parent := traceparent(span.SpanContext()); parent != "" {
		ctx = pathlock.WithOrigin(ctx, pathlock.Origin{Trace: parent})
	}
	return context.WithValue(ctx, acquisitionKey{o}, &acquisition{span: span})
}

// Waiting implements [pathlock.Observer].
func (o *Observer) Waiting(ctx context.Context, e pathlock.Event) {
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
	a.waitBegan = e.Elapsed
	o.waiting.Add(ctx, 1, metric.WithAttributes(o.operation(e)))
	if o.locker != nil && a.wait.IsRecording() {
		a.unlink = o.find(a.wait, e)
	}
}

// end ends the spans of an acquisition, and counts it.
func (o *Observer) end(ctx context.Context, e pathlock.Event, outcome string) {
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
	operation := o.operation(e)
	waited := a.span
	if a.wait != nil {
		waited = a.wait
		o.waiting.Add(ctx, -1, metric.WithAttributes(operation))
		o.waits.Record(ctx, (e.Elapsed - a.waitBegan).Seconds(), metric.WithAttributes(operation))
	}
	if a.unlink != nil {
		a.unlink()
	}
	o.blame(ctx, waited, e, operation)
	if a.wait != nil {
		a.wait.End()
	}
	a.span.SetAttributes(outcomeKey.String(outcome))
	if e.Fence > 0 {
		a.span.SetAttributes(fenceKey.Int64(int64(e.Fence))) //nolint:gosec // No tree has that many grants.
	}
	if e.Err != nil {
		a.span.SetStatus(codes.Error, outcome)
	}
	a.span.End()
	o.acquiring.Record(ctx, e.Elapsed.Seconds(), metric.WithAttributes(operation, outcomeKey.String(outcome)))
}

// blame links a span to whom its acquisition was refused for, and counts the conflict.
func (o *Observer) blame(ctx context.Context, span trace.Span, e pathlock.Event, operation attribute.KeyValue) {
	var blocker pathlock.Blocker
	if conflict, ok := errors.AsType[*pathlock.ConflictError](e.Err); ok {
		blocker = conflict.Blocker
		o.conflicts.Add(ctx, 1, metric.WithAttributes(operation, blockerKey.String(o.operations.Of(blocker.Origin.Operation))))
	} else if deadlock, ok := errors.AsType[*pathlock.DeadlockError](e.Err); ok {
		blocker = deadlock.Blocker
	} else {
		return
	}
	if blocker.Origin.Operation != "" {
		span.SetAttributes(blockerKey.String(blocker.Origin.Operation))
	}
	if link, ok := linkTo(blocker.Origin, blocker.Waiting); ok {
		span.AddLink(link)
	}
}

// Granted implements [pathlock.Observer].
func (o *Observer) Granted(ctx context.Context, e pathlock.Event) {
	o.holding.Add(ctx, 1)
	if !e.Reentrant {
		o.end(ctx, e, "granted")
	}
}

// Refused implements [pathlock.Observer].
func (o *Observer) Refused(ctx context.Context, e pathlock.Event) {
	o.end(ctx, e, label.Refusal(e.Err))
}

// Lost implements [pathlock.Observer].
func (o *Observer) Lost(ctx context.Context, e pathlock.Event) {
	o.lost.Add(ctx, 1, metric.WithAttributes(o.operation(e)))
	_, span := o.tracer.Start(ctx, "pathlock lost", trace.WithAttributes(o.attributesOf(e)...))
	span.SetStatus(codes.Error, "lost")
	span.End()
}

// Released implements [pathlock.Observer].
func (o *Observer) Released(ctx context.Context, e pathlock.Event) {
	o.holding.Add(ctx, -1)
	o.held.Record(ctx, e.Elapsed.Seconds(), metric.WithAttributes(o.operation(e)))
}

// Answered implements [pathlock.Observer].
func (o *Observer) Answered(ctx context.Context, f pathlock.Failure) {
	o.problems.Add(ctx, 1, metric.WithAttributes(problemKey.String(label.Problem(f))))
}

// Step implements [pathlock.Observer].
func (o *Observer) Step(ctx context.Context, s pathlock.Step) (context.Context, func(error)) {
	began := time.Now()
	operation := operationKey.String(o.operations.Of(pathlock.OriginOf(ctx).Operation))
	if s.Kind == pathlock.StepRetry {
		o.retries.Add(ctx, 1, metric.WithAttributes(operation))
	}
	ctx, span := o.tracer.Start(ctx, "pathlock "+string(s.Kind), trace.WithAttributes(attemptKey.Int(s.Attempt)))
	return ctx, func(err error) {
		outcome := outcomeKey.String(label.Step(err))
		span.SetAttributes(outcome)
		if err != nil {
			span.SetStatus(codes.Error, outcome.Value.AsString())
		}
		span.End()
		o.steps.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(stepKey.String(string(s.Kind)), outcome))
		if s.Kind == pathlock.StepAssert && errors.Is(err, pathlock.ErrPathChanged) {
			o.assertionFailures.Add(ctx, 1, metric.WithAttributes(operation, attemptKey.Int(min(s.Attempt, 2))))
		}
	}
}
