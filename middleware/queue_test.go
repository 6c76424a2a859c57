package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

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

// Two requests on one node run one after the other, two on different nodes at once.
func TestRequestsExcludeEachOtherOnlyWhereTheyCollide(t *testing.T) {
	store := waiting{memstore.New(), make(chan struct{}, 1)}
	f := newFixture(t, store, middleware.Config{Wait: time.Minute})
	inside, leave := make(chan string), make(chan struct{})
	f.handler = func(c *gin.Context) {
		inside <- c.Param("id")
		<-leave
		c.Status(http.StatusNoContent)
	}
	var requests sync.WaitGroup
	begin := func(target string) {
		requests.Go(func() {
			if w := f.send("DELETE", target, ""); w.Code != http.StatusNoContent {
				t.Errorf("%s: %d", target, w.Code)
			}
		})
	}
	begin("/suites/3")
	<-inside
	begin("/suites/4") // elsewhere: gets in at once
	<-inside
	begin("/suites/2") // above the first: has to wait
	<-store.queued
	select {
	case id := <-inside:
		t.Errorf("%s got in beside one below it", id)
	default:
	}
	leave <- struct{}{}
	leave <- struct{}{}
	if id := <-inside; id != "2" {
		t.Errorf("%s got in, want 2", id)
	}
	leave <- struct{}{}
	requests.Wait()
	f.nothingLeft()
}
