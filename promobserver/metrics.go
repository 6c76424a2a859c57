package promobserver

import "github.com/prometheus/client_golang/prometheus"

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

// counter returns a counter by labels.
func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// histogram returns a histogram of seconds by labels.
func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

func newMetrics() metrics {
	return metrics{
		acquisitions: counter("pathlock_acquisitions_total",
			"Acquisitions by operation and outcome: granted, reentrant, degraded, conflict, deadlock, lost, unavailable, cancelled or error.",
			"operation", "outcome"),
		acquiring: histogram("pathlock_acquire_duration_seconds",
			"Duration of acquisitions, including waits, by operation and outcome. Re-entrant ones take no time.",
			shortBuckets, "operation", "outcome"),
		waiting: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "pathlock_waiting", Help: "Acquisitions of this process that are waiting for others, by operation.",
		}, []string{"operation"}),
		waits: histogram("pathlock_wait_duration_seconds",
			"Duration of waits for others, granted or not, by operation.", shortBuckets, "operation"),
		conflicts: counter("pathlock_conflicts_total",
			"Acquisitions that were refused because others held or wanted the locks, by operation and by the blocking operation.",
			"operation", "blocker"),
		holding: prometheus.NewGauge(prometheus.GaugeOpts{
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

// all returns the metrics as collectors.
func (m *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{
		m.acquisitions, m.acquiring, m.waiting, m.waits, m.conflicts, m.holding, m.held, m.lost, m.steps, m.assertionFailures, m.retries, m.problems,
	}
}
