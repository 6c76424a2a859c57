package monitoring_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/promobserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// scraped returns a locker that a real Prometheus, which is returned too, has scraped already.
func scraped(t *testing.T) (locker *pathlock.Locker, addr string) {
	t.Helper()
	need(t, "prometheus")
	observer, registry := promobserver.New(), prometheus.NewRegistry()
	registry.MustRegister(observer)
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	addr = startPrometheus(t, strings.TrimPrefix(server.URL, "http://"))
	await(t, addr, `count_over_time(pathlock_held{job="pathlock"}[1m]) > 5`) // five seconds, the alerts' resolution
	locker = pathlock.New(memstore.New(), pathlock.WithObserver(observer), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	return locker, addr
}

// await waits until a query has an answer.
func await(t *testing.T, prometheus, query string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); answers(t, prometheus, query) == 0; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nothing answers %s", query)
		}
	}
}

// The first thing that an operation does in a process is to lose its lock.
func TestTheFirstLossOfAProcessRaisesAnAlert(t *testing.T) {
	locker, addr := scraped(t)
	tree, err := pathlock.NewTree("testplan", "plan-001")
	if err != nil {
		t.Fatal(err)
	}
	ctx := pathlock.WithOrigin(t.Context(), pathlock.Origin{Operation: "rename"})
	lock, err := locker.Acquire(ctx, pathlock.Request{Tree: tree, Gate: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := locker.ForceRelease(ctx, tree, locker.Scope(lock.Context()).Owner()); err != nil {
		t.Fatal(err)
	}
	<-lock.Context().Done()
	_ = lock.Release(ctx)
	await(t, addr, `ALERTS{alertname="PathlockLeaseLost",alertstate="firing"}`)
}
