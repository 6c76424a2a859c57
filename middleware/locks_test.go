package middleware_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestHandlersRunUnderTheSpecsLocks(t *testing.T) {
	for _, tt := range []struct {
		what, method, target, body string
		headers                    []string
		held                       []string
	}{
		{"rename", "PATCH", "/suites/3", `{"name":"new"}`, nil, []string{"X /dir1/dir2", "X /dir1/new"}},
		{"delete", "DELETE", "/suites/3", ``, nil, []string{"X /dir1/dir2"}},
		{"move", "POST", "/suites/3/move", `{"target":{"parent_id":4}}`, nil, []string{"X /dir1/dir2", "X /other/dir2"}},
		{"form", "POST", "/form", `parent=2&name=n+1`, []string{"Content-Type", "application/x-www-form-urlencoded"}, []string{"X /dir1/n 1"}},
		{"multipart form", "POST", "/form", "--b\r\nContent-Disposition: form-data; name=\"parent\"\r\n\r\n2\r\n--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nm\r\n--b--\r\n",
			[]string{"Content-Type", "multipart/form-data; boundary=b"}, []string{"X /dir1/m"}},
		{"query and header", "POST", "/query?parent=2", ``, []string{"X-Name", "h"}, []string{"X /dir1/h"}},
		{"const and func", "POST", "/func", ``, []string{"Authorization", "Basic YW5uYTp4"}, []string{"X /other/anna"}},
		{"gate", "PUT", "/plans/7", ``, nil, []string{"gate"}},
		{"none", "POST", "/none", ``, nil, nil},
	} {
		t.Run(tt.what, func(t *testing.T) {
			f := newFixture(t, memstore.New(), middleware.Config{})
			called := false
			f.handler = func(c *gin.Context) {
				called = true
				if got := f.held(); !slices.Equal(got, tt.held) {
					t.Errorf("held %v, want %v", got, tt.held)
				}
				body, err := io.ReadAll(c.Request.Body)
				if err != nil || string(body) != tt.body {
					t.Errorf("the handler reads the body %q, %v", body, err)
				}
				c.Status(http.StatusNoContent)
			}
			if w := f.send(tt.method, tt.target, tt.body, tt.headers...); w.Code != http.StatusNoContent || !called {
				t.Errorf("answer %d, handler called: %v: %s", w.Code, called, w.Body)
			}
			f.nothingLeft()
		})
	}
}

// The path is read, the node moves, the lock is granted on the old path: the middleware must notice
// and lock where the node is now.
func TestANodeThatMovedMeanwhileIsLockedWhereItIs(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	resolved := 0
	f.nodes.after = func(string) {
		if resolved++; resolved == 1 {
			f.nodes.move("3", "/other/dir2")
		}
	}
	f.handler = func(c *gin.Context) {
		if got, want := f.held(), []string{"X /other/dir2"}; !slices.Equal(got, want) {
			t.Errorf("held %v, want %v", got, want)
		}
		c.Status(http.StatusNoContent)
	}
	if w := f.send("DELETE", "/suites/3", ""); w.Code != http.StatusNoContent {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
	f.nothingLeft()
}

func TestANodeThatIsGoneWhenTheLockIsGrantedIs404(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.handler = func(*gin.Context) { t.Error("the handler was called") }
	f.nodes.after = func(id string) { f.nodes.move(id, "") }
	f.is("the answer", f.send("DELETE", "/suites/3", ""), http.StatusNotFound, "not-found")
	f.nothingLeft()
}

// Where the writes are asserted, the middleware looks once. But whoever is waited for may well have
// moved the node: then there is a second look, and the handler begins with the right locks.
func TestAssertedRoutesLookAgainWhereTheyWaited(t *testing.T) {
	store := waiting{memstore.New(), make(chan struct{}, 1)}
	f := newAssertedFixture(t, store, middleware.Config{Wait: time.Minute})
	resolved := 0
	f.nodes.after = func(string) { resolved++ }
	if f.is("at once", f.send("DELETE", "/suites/3", ""), http.StatusNoContent, ""); resolved != 1 {
		t.Errorf("%d looks, want one", resolved)
	}
	lock, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: claim("/dir1")})
	if err != nil {
		t.Fatal(err)
	}
	f.handler = func(c *gin.Context) {
		if got, want := f.held(), []string{"X /other/dir2"}; !slices.Equal(got, want) {
			t.Errorf("held %v, want %v", got, want)
		}
		c.Status(http.StatusNoContent)
	}
	resolved = 0
	done := make(chan int)
	go func() { done <- f.send("DELETE", "/suites/3", "").Code }()
	<-store.queued
	f.nodes.move("3", "/other/dir2")
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status := <-done; status != http.StatusNoContent || resolved != 2 {
		t.Errorf("answer %d after %d looks, want 2: before and after the wait. The second lock is asked for under the first, and had at once", status, resolved)
	}
	f.nothingLeft()
}

func TestANodeThatNeverRestsIs409AfterEveryRetry(t *testing.T) {
	for retries := range 4 {
		f := newFixture(t, memstore.New(), middleware.Config{Retry: func() middleware.RetryStrategy {
			return new(pauses(retries))
		}})
		f.handler = func(*gin.Context) { t.Error("the handler was called") }
		resolved := 0
		f.nodes.after = func(id string) {
			resolved++
			f.nodes.move(id, fmt.Sprintf("/somewhere%d", resolved))
		}
		w := f.send("DELETE", "/suites/3", "")
		if w.Code != http.StatusConflict {
			t.Fatalf("answer %d: %s", w.Code, w.Body)
		}
		if kind, _ := f.problem(w)["type"].(string); !strings.HasSuffix(kind, "path-changed") {
			t.Errorf("type %q", kind)
		}
		// One look before the first lock, and one after each.
		if want := retries + 2; resolved != want {
			t.Errorf("resolved %d times with %d retries, want %d", resolved, retries, want)
		}
		f.nothingLeft()
	}
}

// pauses are so many short ones.
type pauses int

func (p *pauses) NextBackoff() time.Duration {
	if *p--; *p < 0 {
		return 0
	}
	return time.Millisecond
}
