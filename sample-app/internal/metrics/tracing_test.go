package metrics_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/metrics"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	goleak.VerifyTestMain(m)
}

// span is what a test looks at.
type span struct{ id, parent, trace, name string }

// receiver is a collector that keeps the spans that it gets over OTLP/HTTP.
type receiver struct {
	mu       sync.Mutex
	spans    []span
	services []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	var export collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &export)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range export.GetResourceSpans() {
		for _, a := range resource.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				r.services = append(r.services, a.GetValue().GetStringValue())
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				r.spans = append(r.spans, span{string(s.GetSpanId()), string(s.GetParentSpanId()), string(s.GetTraceId()), s.GetName()})
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// below returns the names of the spans below one, sorted.
func (r *receiver) below(parent string) []string {
	var names []string
	for _, s := range r.spans {
		if s.parent == parent {
			names = append(names, s.name)
		}
	}
	slices.Sort(names)
	return names
}

// one returns the only span with a name.
func (r *receiver) one(t *testing.T, name string) span {
	t.Helper()
	var found []span
	for _, s := range r.spans {
		if s.name == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans %q among %q", len(found), name, r.spans)
	}
	return found[0]
}

// A request that changes a tree is one trace, from the client's own down to the commit.
func TestARequestIsOneTrace(t *testing.T) {
	received := &receiver{}
	otlp := httptest.NewServer(received)
	defer otlp.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", otlp.URL)
	i, err := instance.Open(t.Context(), instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	if err != nil {
		t.Fatal(err)
	}
	const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	send := func(method, target, body string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, target, nil)
		if body != "" {
			r = httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
		}
		r.Header.Set("Traceparent", traceparent)
		w := httptest.NewRecorder()
		i.Handler.ServeHTTP(w, r)
		if w.Code >= http.StatusBadRequest {
			t.Fatalf("%s %s: %d %s", method, target, w.Code, w.Body)
		}
	}
	send("POST", "/api/projects/p/plans", `{"name":"p"}`)
	send("POST", "/api/plans/1/suites", `{"parent_id":1,"name":"a"}`)
	send("PATCH", "/api/suites/2", `{"name":"b"}`)
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
	request := received.one(t, "PATCH /api/suites/:id")
	if request.trace != "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36" || request.parent != "\x00\xf0\x67\xaa\x0b\xa9\x02\xb7" {
		t.Errorf("the request's trace is %x, below %x", request.trace, request.parent)
	}
	want := []string{"pathlock acquire", "pathlock handler", "pathlock release", "pathlock resolve"}
	if got := received.below(request.id); !slices.Equal(got, want) {
		t.Errorf("below the request are %q, want %q", got, want)
	}
	for _, s := range received.spans {
		if s.name != "pathlock handler" || s.parent != request.id {
			continue
		}
		if got, want := received.below(s.id), []string{"pathlock assert", "pathlock commit"}; !slices.Equal(got, want) {
			t.Errorf("below the handler are %q, want %q", got, want)
		}
	}
	if len(received.services) == 0 || received.services[0] != "pathlock-sample" {
		t.Errorf("the service is %q", received.services)
	}
}

func TestTracingIsOffUnlessTheEnvironmentNamesACollector(t *testing.T) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		t.Setenv(name, "")
	}
	open, err := metrics.Tracer(t.Context())
	if err != nil || open != nil {
		t.Errorf("%v, %v", open, err)
	}
}
