package promobserver

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/label"
)

// Observer counts what lockers do. Give it to them by [pathlock.WithObserver], and register it with
// a [prometheus.Registerer]. Several lockers of a process may share one; those of several stores
// each need their own, registered by [prometheus.WrapRegistererWith].
//
// It has no goroutine, and never blocks.
type Observer interface {
	pathlock.Observer
	prometheus.Collector
}

// observer implements [Observer].
type observer struct {
	prometheus.Collector
	metrics
	operations *label.Operations
	// begun has the labels of operations whose counters exist.
	begun   sync.Map
	traceID func(ctx context.Context) string
}

// New returns an observer that has counted nothing.
func New(opts ...Option) Observer {
	registry := prometheus.NewRegistry()
	o := &observer{Collector: registry, metrics: newMetrics(registry), operations: label.NewOperations(label.MaxOperations)}
	for _, opt := range opts {
		opt(o)
	}
	o.begin()
	return o
}

// waitKey is the context key of an acquisition's wait.
type waitKey struct{ *observer }

// wait is when the wait of one acquisition began, as one more than the event's Elapsed. It is 0
// before the wait, and waitEnded once the acquisition has ended.
type wait struct{ atomic.Int64 }

const waitEnded = -1

// Acquiring implements [pathlock.Observer].
func (o *observer) Acquiring(ctx context.Context, _ pathlock.Event) context.Context {
	return context.WithValue(ctx, waitKey{o}, new(wait))
}

// Waiting implements [pathlock.Observer].
func (o *observer) Waiting(ctx context.Context, e pathlock.Event) {
	if w, ok := ctx.Value(waitKey{o}).(*wait); ok && w.CompareAndSwap(0, int64(e.Elapsed)+1) {
		o.waiting.WithLabelValues(o.operation(e.Origin.Operation)).Inc()
	}
}

// endWait counts the wait of an acquisition that has ended, if there was one.
func (o *observer) endWait(ctx context.Context, e pathlock.Event, operation string) {
	w, ok := ctx.Value(waitKey{o}).(*wait)
	if !ok {
		return
	}
	if began := w.Swap(waitEnded); began > 0 {
		o.waiting.WithLabelValues(operation).Dec()
		o.observe(ctx, o.waits.WithLabelValues(operation), (e.Elapsed - time.Duration(began-1)).Seconds())
	}
}

// Granted implements [pathlock.Observer].
func (o *observer) Granted(ctx context.Context, e pathlock.Event) {
	operation := o.operation(e.Origin.Operation)
	o.holding.Inc()
	if e.Reentrant {
		o.acquisitions.WithLabelValues(operation, "reentrant").Inc()
		return
	}
	outcome := label.Grant(e)
	o.endWait(ctx, e, operation)
	o.acquisitions.WithLabelValues(operation, outcome).Inc()
	o.observe(ctx, o.acquiring.WithLabelValues(operation, outcome), e.Elapsed.Seconds())
}

// Refused implements [pathlock.Observer].
func (o *observer) Refused(ctx context.Context, e pathlock.Event) {
	operation, outcome := o.operation(e.Origin.Operation), label.Refusal(e.Err)
	o.endWait(ctx, e, operation)
	o.acquisitions.WithLabelValues(operation, outcome).Inc()
	o.observe(ctx, o.acquiring.WithLabelValues(operation, outcome), e.Elapsed.Seconds())
	if conflict, ok := errors.AsType[*pathlock.ConflictError](e.Err); ok {
		o.conflicts.WithLabelValues(operation, o.operation(conflict.Blocker.Origin.Operation)).Inc()
	}
}

// Lost implements [pathlock.Observer].
func (o *observer) Lost(_ context.Context, e pathlock.Event) {
	o.lost.WithLabelValues(o.operation(e.Origin.Operation)).Inc()
}

// Released implements [pathlock.Observer].
func (o *observer) Released(ctx context.Context, e pathlock.Event) {
	o.holding.Dec()
	o.observe(ctx, o.held.WithLabelValues(o.operation(e.Origin.Operation)), e.Elapsed.Seconds())
}

// Step implements [pathlock.Observer].
func (o *observer) Step(ctx context.Context, s pathlock.Step) (context.Context, func(error)) {
	began := time.Now()
	operation := o.operation(pathlock.OriginOf(ctx).Operation)
	if s.Kind == pathlock.StepRetry {
		o.retries.WithLabelValues(operation).Inc()
	}
	return ctx, func(err error) {
		o.observe(ctx, o.steps.WithLabelValues(string(s.Kind), label.Step(err)), time.Since(began).Seconds())
		if s.Kind == pathlock.StepAssert && errors.Is(err, pathlock.ErrPathChanged) {
			o.assertionFailures.WithLabelValues(operation, strconv.Itoa(min(s.Attempt, 2))).Inc()
		}
	}
}

// Answered implements [pathlock.Observer].
func (o *observer) Answered(_ context.Context, f pathlock.Failure) {
	o.problems.WithLabelValues(label.Problem(f)).Inc()
}

// begin starts the series that alerts use at 0, before anything has happened: Prometheus sees no
// increase in a series that starts at 1. An operation's own series start when it first appears,
// which may be with a failure. So alerts use the sum over all operations, in which
// [label.NoOperation] is 0 from the start.
func (o *observer) begin() {
	o.operation("")
	o.steps.WithLabelValues(string(pathlock.StepCommit), string(pathlock.FailureOutcomeUnknown))
	o.steps.WithLabelValues(string(pathlock.StepRelease), string(pathlock.FailureLockStore))
	o.problems.WithLabelValues(string(pathlock.FailureDatabase))
}

// operation returns the label of an operation, whose series start at 0 when it first appears.
func (o *observer) operation(name string) string {
	operation := o.operations.Of(name)
	if _, begun := o.begun.LoadOrStore(operation, true); !begun {
		o.acquisitions.WithLabelValues(operation, "conflict")
		o.acquisitions.WithLabelValues(operation, "unavailable")
		o.acquisitions.WithLabelValues(operation, "degraded")
		o.waiting.WithLabelValues(operation)
		o.lost.WithLabelValues(operation)
		o.retries.WithLabelValues(operation)
		o.assertionFailures.WithLabelValues(operation, "1")
		o.assertionFailures.WithLabelValues(operation, "2")
	}
	return operation
}

// Option configures an [Observer].
type Option func(*observer)

// TraceID adds exemplars to the histograms: the label trace_id with what trace returns for a
// context. There is no exemplar if trace returns "". With OpenTelemetry that is:
//
//	promobserver.TraceID(func(ctx context.Context) string {
//		if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
//			return span.TraceID().String()
//		}
//		return ""
//	})
//
// Prometheus stores exemplars with --enable-feature=exemplar-storage. The handler has to offer the
// OpenMetrics format: see promhttp's EnableOpenMetrics.
func TraceID(trace func(ctx context.Context) string) Option {
	return func(o *observer) { o.traceID = trace }
}

// maxTraceID keeps an exemplar within the limits of OpenMetrics, in runes.
const maxTraceID = 64

// observe adds a value to a histogram, with an exemplar if there is a trace.
func (o *observer) observe(ctx context.Context, histogram prometheus.Observer, seconds float64) {
	if o.traceID != nil {
		id := o.traceID(ctx)
		with, ok := histogram.(prometheus.ExemplarObserver)
		if ok && id != "" && utf8.ValidString(id) && utf8.RuneCountInString(id) <= maxTraceID {
			with.ObserveWithExemplar(seconds, prometheus.Labels{"trace_id": id})
			return
		}
	}
	histogram.Observe(seconds)
}

// metrics are what an Observer counts.
type metrics struct {
	acquisitions      *prometheus.CounterVec
	acquiring         *prometheus.HistogramVec
	waiting           *prometheus.GaugeVec
	waits             *prometheus.HistogramVec
	conflicts         *prometheus.CounterVec
	holding           prometheus.Gauge
	held              *prometheus.HistogramVec
	lost              *prometheus.CounterVec
	steps             *prometheus.HistogramVec
	assertionFailures *prometheus.CounterVec
	retries           *prometheus.CounterVec
	problems          *prometheus.CounterVec
}

// The upper bounds of the histograms' buckets, in seconds. A grant takes 50 µs in memory and a
// millisecond over a network; waits end after seconds, and requests hold for a minute at most.
var (
	shortBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	longBuckets  = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
)

// newMetrics returns metrics that are registered with r.
func newMetrics(r prometheus.Registerer) metrics {
	with := promauto.With(r)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return with.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return with.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	return metrics{
		acquisitions: counter("pathlock_acquisitions_total",
			"Acquisitions by operation and outcome: granted, reentrant, degraded, conflict, deadlock, lost, unavailable, cancelled or error.",
			"operation", "outcome"),
		acquiring: histogram("pathlock_acquire_duration_seconds",
			"Duration of acquisitions, including waits, by operation and outcome. Re-entrant ones take no time.",
			shortBuckets, "operation", "outcome"),
		waiting: with.NewGaugeVec(prometheus.GaugeOpts{
			Name: "pathlock_waiting", Help: "Acquisitions of this process that are waiting for others, by operation.",
		}, []string{"operation"}),
		waits: histogram("pathlock_wait_duration_seconds",
			"Duration of waits for others, granted or not, by operation.", shortBuckets, "operation"),
		conflicts: counter("pathlock_conflicts_total",
			"Acquisitions that were refused because others held or wanted the locks, by operation and by the blocking operation.",
			"operation", "blocker"),
		holding: with.NewGauge(prometheus.GaugeOpts{
			Name: "pathlock_held", Help: "Locks that this process holds now, including re-entrant ones.",
		}),
		held: histogram("pathlock_held_duration_seconds",
			"Duration of holds, including re-entrant ones, by operation.", longBuckets, "operation"),
		lost: counter("pathlock_lost_total", "Locks whose lease was lost before their release, by operation.", "operation"),
		steps: histogram("pathlock_step_duration_seconds",
			"Duration of the steps around locks: resolve, handler, assert, commit, rollback, retry or release, by outcome.",
			shortBuckets, "step", "outcome"),
		assertionFailures: counter("pathlock_assertion_failures_total",
			"Assertions that found a path changed, by operation and attempt: after the 1st the write is planned again, after the 2nd it is refused.",
			"operation", "attempt"),
		retries: counter("pathlock_retries_total",
			"Further tries of work that had to start over, by operation: nodes had moved, or the database aborted the transaction.", "operation"),
		problems: counter("pathlock_problems_total", "Requests that were answered by a problem, by the end of its type.", "type"),
	}
}
