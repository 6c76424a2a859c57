package otelobserver

import (
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/pathlock-go/pathlock/internal/label"
)

// scope names the instrumentation.
const scope = "github.com/pathlock-go/pathlock/otelobserver"

// settings are what options set.
type settings struct {
	tracers    trace.TracerProvider
	meters     metric.MeterProvider
	operations *label.Operations
	paths      bool
}

// Option configures an [Observer].
type Option func(*settings)

// TracerProvider sets who makes the spans. The default is OpenTelemetry's global provider.
func TracerProvider(p trace.TracerProvider) Option { return func(s *settings) { s.tracers = p } }

// MeterProvider sets who counts. The default is OpenTelemetry's global provider.
func MeterProvider(p metric.MeterProvider) Option { return func(s *settings) { s.meters = p } }

// Paths adds to the spans what is locked: the tree, and the first claims. Leave it out where the
// names of nodes must not reach whoever reads the traces.
func Paths() Option { return func(s *settings) { s.paths = true } }
