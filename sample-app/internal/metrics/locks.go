package metrics

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pathlock-go/pathlock"
)

// lockMetrics observe a locker.
type lockMetrics struct {
	pathlock.NopObserver
	acquisitions *prometheus.CounterVec
	waits        prometheus.Counter
	acquiring    *prometheus.HistogramVec
	held         prometheus.Histogram
	holding      prometheus.Gauge
	lost         prometheus.Counter
}

var _ pathlock.Observer = (*lockMetrics)(nil)

// lockBuckets span from a local grant to the longest wait.
var lockBuckets = prometheus.ExponentialBuckets(0.0001, 2.5, 13)

func newLockMetrics() *lockMetrics {
	return &lockMetrics{
		acquisitions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "pathlock_acquisitions_total",
			Help: "Acquisitions by outcome: granted, reentrant, conflict, deadlock, unavailable, cancelled or error.",
		}, []string{"outcome"}),
		waits: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "pathlock_waits_total",
			Help: "Acquisitions that waited for other owners.",
		}),
		acquiring: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "pathlock_acquire_duration_seconds",
			Help:    "How long acquisitions took, waits included, by outcome.",
			Buckets: lockBuckets,
		}, []string{"outcome"}),
		held: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "pathlock_held_duration_seconds",
			Help:    "How long locks were held.",
			Buckets: lockBuckets,
		}),
		holding: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "pathlock_held",
			Help: "Locks held at the moment, re-entrant ones included.",
		}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "pathlock_lost_total",
			Help: "Locks whose lease was lost before their release.",
		}),
	}
}

func (m *lockMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.acquisitions, m.waits, m.acquiring, m.held, m.holding, m.lost}
}

// Locks returns the observer to give to a locker.
func (m *Metrics) Locks() pathlock.Observer { return m.locks }

// Waiting implements [pathlock.Observer].
func (m *lockMetrics) Waiting(context.Context, pathlock.Event) { m.waits.Inc() }

// Granted implements [pathlock.Observer].
func (m *lockMetrics) Granted(_ context.Context, e pathlock.Event) {
	m.holding.Inc()
	if e.Reentrant {
		m.acquisitions.WithLabelValues("reentrant").Inc()
		return
	}
	m.outcome("granted", e)
}

// Refused implements [pathlock.Observer].
func (m *lockMetrics) Refused(_ context.Context, e pathlock.Event) { m.outcome(outcomeOf(e.Err), e) }

// Lost implements [pathlock.Observer].
func (m *lockMetrics) Lost(context.Context, pathlock.Event) { m.lost.Inc() }

// Released implements [pathlock.Observer].
func (m *lockMetrics) Released(_ context.Context, e pathlock.Event) {
	m.holding.Dec()
	m.held.Observe(e.Elapsed.Seconds())
}

func (m *lockMetrics) outcome(outcome string, e pathlock.Event) {
	m.acquisitions.WithLabelValues(outcome).Inc()
	m.acquiring.WithLabelValues(outcome).Observe(e.Elapsed.Seconds())
}

// outcomeOf returns the label of a refusal's reason.
func outcomeOf(err error) string {
	switch {
	case errors.Is(err, pathlock.ErrConflict):
		return "conflict"
	case errors.Is(err, pathlock.ErrDeadlock):
		return "deadlock"
	case errors.Is(err, pathlock.ErrUnavailable):
		return "unavailable"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	default:
		return "error"
	}
}
