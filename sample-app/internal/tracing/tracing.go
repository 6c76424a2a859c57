// Package tracing sends the spans of an instance over OTLP, where the environment names a
// collector.
package tracing

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	tracesdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/otelobserver"
)

// endpoints are the environment variables that name the collector. Tracing is off unless one of
// them is set. OpenTelemetry's other variables count too, such as OTEL_TRACES_SAMPLER.
var endpoints = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}

// service is the name of the service unless OTEL_SERVICE_NAME says otherwise.
const service = "pathlock-sample"

// closeTimeout bounds how long the last spans may take to reach the collector.
const closeTimeout = 5 * time.Second

// Tracing traces an instance. A nil Tracing is off.
type Tracing struct {
	provider *tracesdk.TracerProvider
	tracer   trace.Tracer
	locks    *otelobserver.Observer
}

// Open returns the tracing that the environment asks for, nil if it asks for none. A collector that
// does not answer costs spans, and no request.
func Open(ctx context.Context) (*Tracing, error) {
	wanted := false
	for _, name := range endpoints {
		wanted = wanted || os.Getenv(name) != ""
	}
	if !wanted {
		return nil, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", service)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	t := &Tracing{provider: tracesdk.NewTracerProvider(tracesdk.WithBatcher(exporter), tracesdk.WithResource(about))}
	t.tracer = t.provider.Tracer("github.com/pathlock-go/pathlock/sample-app")
	t.locks = otelobserver.New(otelobserver.TracerProvider(t.provider))
	return t, nil
}

// Options returns those of a locker that is traced.
func (t *Tracing) Options() []pathlock.Option {
	if t == nil {
		return nil
	}
	return []pathlock.Option{pathlock.WithObserver(t.locks)}
}

// LinkBlockers has waits linked to those that they wait for.
func (t *Tracing) LinkBlockers(locker *pathlock.Locker) {
	if t != nil {
		t.locks.LinkBlockers(locker)
	}
}

// Request returns middleware that makes a span of each request around next, which runs the rest of
// the chain.
func (t *Tracing) Request(next gin.HandlerFunc) gin.HandlerFunc {
	if t == nil {
		return next
	}
	return func(c *gin.Context) {
		outer := c.Request
		ctx := propagation.TraceContext{}.Extract(outer.Context(), propagation.HeaderCarrier(outer.Header))
		name := outer.Method
		if route := c.FullPath(); route != "" {
			name += " " + route
		}
		ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
			attribute.String("http.request.method", outer.Method), attribute.String("http.route", c.FullPath())))
		defer span.End()
		c.Request = outer.WithContext(ctx)
		next(c)
		status := c.Writer.Status()
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
	}
}

// Close sends what is left.
func (t *Tracing) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if err := t.locks.Shutdown(ctx); err != nil {
		return err
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("tracing: the last spans were not sent: %w", err)
	}
	return nil
}
