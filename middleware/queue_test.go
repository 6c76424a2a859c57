package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestAClientThatGoesAwayLeavesTheQueue(t *testing.T) {
	store := waiting{memstore.New(), make(chan struct{})}
	f := newFixture(t, store, middleware.Config{Wait: time.Hour})
	lock, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.Root())}})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan *httptest.ResponseRecorder, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		f.engine.ServeHTTP(recorder, r)
		served <- recorder
	}))
	defer server.Close()

	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		req, err := http.NewRequestWithContext(ctx, http.MethodPatch, server.URL+"/suites/3", strings.NewReader(`{"name":"n"}`))
		if err != nil {
			t.Error(err)
			return
		}
		if resp, err := server.Client().Do(req); err == nil {
			_ = resp.Body.Close()
			t.Errorf("the client that left was answered %d", resp.StatusCode)
		}
	}()
	<-store.queued
	leave()
	<-gone
	if w := <-served; w.Code != middleware.StatusClientGone || w.Body.Len() != 0 {
		t.Errorf("logged as %d, with the body %q", w.Code, w.Body)
	}
	snapshot, err := f.locker.Snapshot(t.Context(), plan)
	if err != nil || len(snapshot.Waiters) != 0 || len(snapshot.Holders) != 1 {
		t.Errorf("in the lock table: %+v, %v", snapshot, err)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Error(err)
	}
	f.nothingLeft()
}
