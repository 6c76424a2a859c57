package promobserver

import (
	"context"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
)

// Option configures an [Observer].
type Option func(*Observer)

// TraceID adds exemplars to the histograms: the label trace_id with what trace returns for a
// context. There is no exemplar where trace returns "". With OpenTelemetry that is:
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
	return func(o *Observer) { o.traceID = trace }
}

// maxTraceID keeps an exemplar within the limits of OpenMetrics, in runes.
const maxTraceID = 64

// observe adds a value to a histogram, with an exemplar if there is a trace.
func (o *Observer) observe(ctx context.Context, histogram prometheus.Observer, seconds float64) {
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
