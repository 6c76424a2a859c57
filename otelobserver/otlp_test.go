package otelobserver_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	tracesdk "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/otelobserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// receiver is a collector that keeps the spans that it gets over OTLP/HTTP.
type receiver struct {
	mu    sync.Mutex
	spans map[string]*otlp.Span
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	var export collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &export)
	}
	if err != nil || request.URL.Path != "/v1/traces" {
		http.Error(w, "no traces", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range export.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				r.spans[span.GetName()] = span
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func TestSpansAndLinksReachACollector(t *testing.T) {
	received := &receiver{spans: make(map[string]*otlp.Span)}
	server := httptest.NewServer(received)
	defer server.Close()
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(server.URL+"/v1/traces"), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	if err != nil {
		t.Fatal(err)
	}
	tracers := tracesdk.NewTracerProvider(tracesdk.WithBatcher(exporter))
	store := memstore.New()
	holder := newProcess(t, store)
	observer := otelobserver.New(otelobserver.TracerProvider(tracers))
	locker := pathlock.New(store, pathlock.WithObserver(observer))

	lock, err := holder.Acquire(doing(t.Context(), "rename"), exclusive("/a", 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := locker.Acquire(doing(t.Context(), "move"), exclusive("/a", pathlock.NoWait)); err == nil {
		t.Fatal("granted twice")
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tracers.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop(t, holder)
	span := received.spans["pathlock acquire"]
	if span == nil || len(span.GetLinks()) != 1 {
		t.Fatalf("received %v", received.spans)
	}
	want := holder.span("pathlock acquire").SpanContext.TraceID()
	if got := span.GetLinks()[0].GetTraceId(); string(got) != string(want[:]) {
		t.Errorf("the link leads to the trace %x, want %s", got, want)
	}
	if got := span.GetStatus().GetCode(); got != otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("the status is %v", got)
	}
}
