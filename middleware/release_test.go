package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// distant is a store whose releases arrive when they are let through, and that tells of every
// acquisition that it has answered.
type distant struct {
	pathlock.Store
	answered chan error
	through  chan struct{}
}

func (s distant) Local() bool { return false }

func (s distant) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	granted, err := s.Store.Acquire(ctx, a)
	s.answered <- err
	return granted, err
}

func (s distant) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	<-s.through
	return s.Store.Release(ctx, tree, owner, id)
}

func newDistant() distant { return distant{memstore.New(), make(chan error, 10), make(chan struct{})} }

func TestTheResponseDoesNotWaitForTheRelease(t *testing.T) {
	for what, handler := range map[string]struct {
		handle gin.HandlerFunc
		status int
	}{
		"a handler that answers": {func(c *gin.Context) { c.Status(http.StatusNoContent) }, http.StatusNoContent},
		"a handler that panics":  {func(*gin.Context) { panic("in the handler") }, http.StatusInternalServerError},
	} {
		t.Run(what, func(t *testing.T) {
			store := newDistant()
			f := newFixture(t, store, middleware.Config{})
			f.handler = handler.handle
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer func() {
					if recover() != nil {
						w.WriteHeader(http.StatusInternalServerError)
					}
				}()
				f.engine.ServeHTTP(w, r)
			}))
			defer server.Close()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, server.URL+"/suites/3", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := server.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != handler.status {
				t.Errorf("answer %d, want %d", resp.StatusCode, handler.status)
			}
			if got := f.held(); len(got) != 1 {
				t.Errorf("held after the response, before the release: %v", got)
			}
			close(store.through)
			f.nothingLeft()
		})
	}
}

// A value of a Func costs what it costs once per request, however often the nodes are looked at.
func TestAFuncIsCalledOncePerRequest(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	calls := 0
	which := lockspec.Func("which", func(_ *http.Request, param func(string) string) (string, bool, error) {
		calls++
		return param("id"), true, nil
	})
	locks := middleware.New(f.locker, f.nodes, middleware.Config{})
	f.engine.POST("/func/:id", locks.Lock(lockspec.All(lockspec.Names("names", which), lockspec.Delete(lockspec.Query("id")))),
		func(c *gin.Context) { f.handler(c) })
	resolved := 0
	f.nodes.after = func(string) {
		if resolved++; resolved == 1 {
			f.nodes.move("3", "/other/dir2")
		}
	}
	if w := f.send("POST", "/func/7?id=3", ""); w.Code != http.StatusNoContent || calls != 1 || resolved != 3 {
		t.Errorf("answer %d after %d calls and %d looks at the node, want 1 and 3: %s", w.Code, calls, resolved, w.Body)
	}
	f.nothingLeft()
}
