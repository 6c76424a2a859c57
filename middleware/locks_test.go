package middleware_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestLock_handlersRunUnderTheSpecsLocks(t *testing.T) {
	for _, tt := range []struct {
		method, target, body string
		headers              []string
		held                 []string
	}{
		{"PATCH", "/suites/3", `{"name":"new"}`, nil, []string{"X /dir1/dir2", "X /dir1/new"}},
		{"DELETE", "/suites/3", ``, nil, []string{"X /dir1/dir2"}},
		{"POST", "/suites/3/move", `{"target":{"parent_id":4}}`, nil, []string{"X /dir1/dir2", "X /other/dir2"}},
		{"POST", "/form", `parent=2&name=n+1`, []string{"Content-Type", "application/x-www-form-urlencoded"}, []string{"X /dir1/n 1"}},
		{"POST", "/query?parent=2", ``, []string{"X-Name", "h"}, []string{"X /dir1/h"}},
		{"PUT", "/plans/7", ``, nil, []string{"gate"}},
		{"POST", "/none", ``, nil, nil},
	} {
		f := newFixture(t, memstore.New(), middleware.Config{})
		f.handler = func(c *gin.Context) {
			if body, err := io.ReadAll(c.Request.Body); err != nil || string(body) != tt.body {
				t.Errorf("the handler reads the body %q, %v", body, err)
			}
			f.holding(tt.held...)(c)
		}
		f.is(tt.target, f.send(tt.method, tt.target, tt.body, tt.headers...), http.StatusNoContent, "")
		f.nothingLeft()
	}
}

// Where the writes are asserted, the middleware looks once. But whoever is waited for may well have
// moved the node: then there is a second look, and the handler begins with the right locks.
func TestAssertedRoutesLookAgainWhereTheyWaited(t *testing.T) {
	store := &spy{Store: memstore.New(), queued: make(chan struct{}, 1)}
	f := newFixture(t, store, middleware.Config{Wait: time.Minute}, lockspec.Spec.Asserted)
	if f.is("at once", f.send("DELETE", "/suites/3", ""), http.StatusNoContent, ""); f.nodes.looks != 1 {
		t.Errorf("%d looks, want one", f.nodes.looks)
	}
	lock := f.acquire("/dir1")
	f.handler = f.holding("X /other/dir2")
	f.nodes.looks = 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.is("after a wait", f.send("DELETE", "/suites/3", ""), http.StatusNoContent, "")
	}()
	<-store.queued
	f.nodes.move("3", "/other/dir2")
	f.release(lock)
	<-done
	if f.nodes.looks != 2 {
		t.Errorf("%d looks, want 2: before and after the wait. The second lock is asked for under the first, and had at once", f.nodes.looks)
	}
	f.nothingLeft()
}

// pauses are so many short ones.
type pauses int

func (p *pauses) NextBackoff() time.Duration {
	if *p--; *p < 0 {
		return 0
	}
	return time.Millisecond
}

// The path is read, the node moves, the lock is granted on the old path: the middleware notices and
// locks where the node is now, and gives up after every retry. Observers see it step by step.
func TestRetry_locksAMovedNodeWhereItIs(t *testing.T) {
	const resolved = "resolve 1: <nil>"
	again := "retry 2: " + pathlock.ErrPathChanged.Error()
	for _, tt := range []struct {
		moves   int
		id      string
		handler gin.HandlerFunc
		status  int
		want    []string
	}{
		{status: 204, want: []string{resolved, resolved, "handler 1: <nil>"}},
		{moves: 1, status: 204, want: []string{resolved, resolved, "resolve 2: <nil>", "retry 2: <nil>", "handler 1: <nil>"}},
		{moves: 2, status: 204, want: []string{resolved, resolved, "resolve 2: <nil>", again, "resolve 3: <nil>", "retry 3: <nil>", "handler 1: <nil>"}},
		{moves: 3, status: 409, want: []string{resolved, resolved, "resolve 2: <nil>", again, "resolve 3: <nil>", "retry 3: pathlock: path changed"}},
		{id: "99", status: 404, want: []string{"resolve 1: lockspec: param id: pathlock: not found: suite 99"}},
		{handler: func(c *gin.Context) { _ = c.Error(context.Canceled) }, status: 200, want: []string{resolved, resolved, "handler 1: context canceled"}},
		{handler: func(*gin.Context) { panic("in the handler") }, status: 500, want: []string{resolved, resolved, "handler 1: middleware: a panic"}},
	} {
		f := newFixture(t, memstore.New(), middleware.Config{Retry: func() middleware.RetryStrategy { return new(pauses(2)) }})
		place := "/dir1/dir2"
		f.nodes.after = func(id string, looks int) {
			if looks <= tt.moves {
				place = fmt.Sprintf("/somewhere%d", looks)
				f.nodes.move(id, place)
			}
		}
		f.handler = func(c *gin.Context) {
			if step := c.Request.Context().Value(stepKey{}); step != pathlock.StepHandler {
				t.Errorf("the handler runs under the context of the step %v", step)
			}
			if tt.handler != nil {
				tt.handler(c)
				return
			}
			f.holding("X " + place)(c)
		}
		id := "3"
		if tt.id != "" {
			id = tt.id
		}
		f.is(fmt.Sprint(tt.moves, " moves"), f.send("DELETE", "/suites/"+id, ""), tt.status, "")
		if !slices.EqualFunc(f.seen.steps, tt.want, strings.HasPrefix) {
			t.Errorf("seen:\n\t%s\nwant:\n\t%s", strings.Join(f.seen.steps, "\n\t"), strings.Join(tt.want, "\n\t"))
		}
		f.nothingLeft()
	}
}
