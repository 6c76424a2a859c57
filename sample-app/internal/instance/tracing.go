package instance

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	tracesdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// service is the name of the service unless OTEL_SERVICE_NAME says otherwise.
const service = "pathlock-sample"

// newTracer sends the spans of an instance over OTLP, where OTEL_EXPORTER_OTLP_ENDPOINT names a
// collector. OpenTelemetry's other variables count too, such as OTEL_TRACES_SAMPLER. It returns nil
// where there is none. A collector that does not answer costs spans, and no request.
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
