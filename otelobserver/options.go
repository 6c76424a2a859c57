package otelobserver

import (
	"go.opentelemetry.io/otel/trace"
)

// scope names the instrumentation.
const scope = "github.com/pathlock-go/pathlock/otelobserver"

// Option configures an [Observer].
type Option func(*Observer)

// TracerProvider sets who makes the spans. The default is OpenTelemetry's global provider.
func TracerProvider(p trace.TracerProvider) Option {
	return func(o *Observer) { o.tracer = p.Tracer(scope) }
}

// Paths adds to the spans what is locked: the tree, and the first claims. Leave it out where the
// names of nodes must not reach whoever reads the traces.
func Paths() Option { return func(o *Observer) { o.paths = true } }
