package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// A request that changes a tree is one trace in a collector, from the client's own span down to the
// commit.
func TestTracing_requestIsOneTrace(t *testing.T) {
	const trace, above = "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36", "\x00\xf0\x67\xaa\x0b\xa9\x02\xb7"
	var mu sync.Mutex
	names, under := map[string]string{above: "client"}, map[string]string{} // by a span's id
	otlp := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var export collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(body, &export) != nil {
			t.Errorf("the export is %q, %v", body, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range export.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				for _, s := range scope.GetSpans() {
					if string(s.GetTraceId()) == trace {
						names[string(s.GetSpanId())], under[string(s.GetSpanId())] = strings.TrimPrefix(s.GetName(), "pathlock "), string(s.GetParentSpanId())
					}
				}
			}
		}
	}))
	defer otlp.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", otlp.URL)
	i, err := instance.Open(t.Context(), instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	testerr.Must(t, err)
	for _, r := range []struct{ method, target, body, traceparent string }{
		{"POST", "/api/projects/p/plans", `{"name":"p"}`, ""},
		{"POST", "/api/plans/1/suites", `{"parent_id":1,"name":"a"}`, ""},
		{"PATCH", "/api/suites/2", `{"name":"b"}`, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
	} {
		req := httptest.NewRequestWithContext(t.Context(), r.method, r.target, strings.NewReader(r.body))
		req.Header.Set("Traceparent", r.traceparent)
		w := httptest.NewRecorder()
		if i.Handler.ServeHTTP(w, req); w.Code >= http.StatusBadRequest {
			t.Fatalf("%s %s: %d %s", r.method, r.target, w.Code, w.Body)
		}
	}
	testerr.Must(t, i.Close())
	var got []string
	for id, parent := range under {
		got = append(got, names[parent]+" > "+names[id])
	}
	slices.Sort(got)
	const request = "PATCH /api/suites/:id"
	want := []string{request + " > acquire", request + " > handler", request + " > release", request + " > resolve",
		"client > " + request, "handler > assert", "handler > commit"}
	if !slices.Equal(got, want) {
		t.Errorf("the trace is %q, want %q", got, want)
	}
}
