package instance

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	tracesdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pathlock-go/pathlock/promobserver"
)

// metrics are the metrics of one instance.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	locks    promobserver.Observer
}

// newMetrics returns metrics with a registry of their own, among them those of a database's pool.
func newMetrics(pool *sql.DB, database string) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "http_request_duration_seconds",
			Help:    "How long requests took, by method, route and status.",
			Buckets: prometheus.DefBuckets,
		}, []string{"method", "route", "status"}),
		locks: promobserver.New(promobserver.TraceID(traceOf)),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewDBStatsCollector(pool, database), m.requests, m.locks)
	return m
}

// traceOf returns the trace of a request for its exemplars, "" if it is not recorded.
func traceOf(ctx context.Context) string {
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		return span.TraceID().String()
	}
	return ""
}

// observe is middleware that times requests.
func (m *metrics) observe(c *gin.Context) {
	start := time.Now()
	c.Next()
	route := c.FullPath()
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(method(c.Request.Method), route, strconv.Itoa(c.Writer.Status())).Observe(time.Since(start).Seconds())
}

// method returns the label of a method. Clients must not be able to invent labels.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	default:
		return "other"
	}
}

// service is the name of the service unless OTEL_SERVICE_NAME says otherwise.
const service = "pathlock-sample"

// newTracer sends the spans of an instance over OTLP, where OTEL_EXPORTER_OTLP_ENDPOINT names a
// collector. OpenTelemetry's other variables count too, such as OTEL_TRACES_SAMPLER. It returns nil
// if there is none. A collector that does not answer costs spans, and no request.
func newTracer(ctx context.Context) (*tracesdk.TracerProvider, error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return nil, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	about, err := resource.New(ctx, resource.WithHost(), resource.WithAttributes(attribute.String("service.name", service)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	return tracesdk.NewTracerProvider(tracesdk.WithBatcher(exporter), tracesdk.WithResource(about)), nil
}

// traced is middleware that makes a span of each request, below the client's own.
func traced(provider trace.TracerProvider) gin.HandlerFunc {
	tracer := provider.Tracer("github.com/pathlock-go/pathlock/sample-app")
	return func(c *gin.Context) {
		ctx := propagation.TraceContext{}.Extract(c.Request.Context(), propagation.HeaderCarrier(c.Request.Header))
		ctx, span := tracer.Start(ctx, c.Request.Method+" "+c.FullPath(), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
			attribute.String("http.request.method", c.Request.Method), attribute.String("http.route", c.FullPath())))
		defer span.End()
		c.Request = c.Request.WithContext(ctx)
		c.Next()
		span.SetAttributes(attribute.Int("http.response.status_code", c.Writer.Status()))
		if c.Writer.Status() >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
	}
}
