package otelobserver

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// instruments are what an Observer counts with. Their names are those of package promobserver, in
// OpenTelemetry's spelling.
type instruments struct {
	acquiring         metric.Float64Histogram
	waits             metric.Float64Histogram
	held              metric.Float64Histogram
	steps             metric.Float64Histogram
	waiting           metric.Int64UpDownCounter
	holding           metric.Int64UpDownCounter
	conflicts         metric.Int64Counter
	lost              metric.Int64Counter
	assertionFailures metric.Int64Counter
	retries           metric.Int64Counter
	problems          metric.Int64Counter
}

// The upper bounds of the histograms' buckets, in seconds: see package promobserver.
var (
	shortBuckets = metric.WithExplicitBucketBoundaries(.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10)
	longBuckets  = metric.WithExplicitBucketBoundaries(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300)
)

// newInstruments makes the instruments. Those that come with an error work, or do nothing.
func newInstruments(m metric.Meter) (i instruments, err error) {
	var errs [11]error
	seconds := metric.WithUnit("s")
	i.acquiring, errs[0] = m.Float64Histogram("pathlock.acquire.duration", seconds, shortBuckets,
		metric.WithDescription("How long acquisitions took, waits included, by operation and outcome."))
	i.waits, errs[1] = m.Float64Histogram("pathlock.wait.duration", seconds, shortBuckets,
		metric.WithDescription("How long acquisitions waited for others that had to, by operation."))
	i.held, errs[2] = m.Float64Histogram("pathlock.held.duration", seconds, longBuckets,
		metric.WithDescription("How long locks were held, by operation."))
	i.steps, errs[3] = m.Float64Histogram("pathlock.step.duration", seconds, shortBuckets,
		metric.WithDescription("How long the steps around locks took, by step and outcome."))
	i.waiting, errs[4] = m.Int64UpDownCounter("pathlock.waiting", metric.WithUnit("{acquisition}"),
		metric.WithDescription("Acquisitions of this process that wait for others at the moment, by operation."))
	i.holding, errs[5] = m.Int64UpDownCounter("pathlock.held", metric.WithUnit("{lock}"),
		metric.WithDescription("Locks that this process holds at the moment, re-entrant ones included."))
	i.conflicts, errs[6] = m.Int64Counter("pathlock.conflicts", metric.WithUnit("{acquisition}"),
		metric.WithDescription("Acquisitions refused because others were in the way, by operation and by the operation in the way."))
	i.lost, errs[7] = m.Int64Counter("pathlock.lost", metric.WithUnit("{lock}"),
		metric.WithDescription("Locks whose lease was lost before their release, by operation."))
	i.assertionFailures, errs[8] = m.Int64Counter("pathlock.assertion.failures", metric.WithUnit("{assertion}"),
		metric.WithDescription("Assertions that found a path changed, by operation and attempt."))
	i.retries, errs[9] = m.Int64Counter("pathlock.retries", metric.WithUnit("{try}"),
		metric.WithDescription("Further tries of work that had to start over, by operation."))
	i.problems, errs[10] = m.Int64Counter("pathlock.problems", metric.WithUnit("{request}"),
		metric.WithDescription("Requests that were answered by a problem, by the end of its type."))
	return i, errors.Join(errs[:]...)
}
