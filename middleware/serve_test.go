package middleware_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// serve starts a server of the fixture's engine.
func (f *fixture) serve() *httptest.Server {
	f.Helper()
	server := httptest.NewServer(f.engine)
	f.Cleanup(server.Close)
	return server
}

// post sends a body to a real server, and returns the status and the body of the answer.
func (f *fixture) post(server *httptest.Server, path, contentType string, body io.Reader) (int, string) {
	f.Helper()
	req, err := http.NewRequestWithContext(f.Context(), http.MethodPost, server.URL+path, body)
	if err != nil {
		f.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := server.Client().Do(req)
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		f.Error(err)
	}
	return resp.StatusCode, string(answer)
}

// Outer middleware finds its own request, without the locks and with the form that the handler has
// parsed.
func TestOuterMiddlewareFindsItsRequestWithoutTheLocks(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	locks := middleware.New(f.locker, f.nodes, middleware.Config{})
	f.engine.POST("/outer/:id", func(c *gin.Context) {
		original, owner := c.Request, f.locker.Scope(c.Request.Context()).Owner()
		c.Next()
		if c.Request != original || original.PostForm.Get("name") != "n" {
			t.Error("the request is another, or the form that the handler parsed is not there")
		}
		for what, of := range map[string]context.Context{"the request's": c.Request.Context(), "gin's": c} {
			lock, err := f.locker.Acquire(of, pathlock.Request{Tree: plan, Gate: true, Wait: pathlock.NoWait})
			if err != nil || f.locker.Scope(of).Owner() == owner {
				t.Errorf("%s context still has an owner: %v", what, err)
				continue
			}
			_ = lock.Release(c)
		}
	}, locks.Lock(lockspec.Delete(lockspec.Param("id"))), func(c *gin.Context) { c.String(http.StatusOK, c.PostForm("name")) })
	if status, body := f.post(f.serve(), "/outer/3", "application/x-www-form-urlencoded", strings.NewReader("name=n")); status != http.StatusOK || body != "n" {
		t.Errorf("answer %d: %s", status, body)
	}
	f.nothingLeft()
}

// gin's own context, its copies too, has the locks as long as the request holds them.
func TestGinsContextCarriesTheLocks(t *testing.T) {
	for _, fallback := range []bool{false, true} {
		f := newFixture(t, memstore.New(), middleware.Config{MaxHold: -1})
		f.engine.ContextWithFallback = fallback
		ask := func(ctx context.Context) error {
			lock, err := f.locker.Acquire(ctx, pathlock.Request{
				Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1/dir2/below"))}, Wait: pathlock.NoWait,
			})
			if err != nil {
				return err
			}
			return lock.Release(context.Background())
		}
		over, asked := make(chan struct{}), make(chan error, 1)
		f.handler = func(c *gin.Context) {
			if err := ask(c); err != nil {
				t.Errorf("gin's context does not carry the locks: %v", err)
			}
			copied := c.Copy()
			if err := ask(copied); err != nil {
				t.Errorf("a copy of gin's context does not carry the locks: %v", err)
			}
			lock, err := f.locker.Acquire(c, pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1/dir2"))}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = lock.Release(c) }()
			if err := f.locker.ForceRelease(c, plan, f.locker.Scope(c).Owner()); err != nil {
				t.Error(err)
			}
			<-lock.Context().Done()
			if err := ask(c); !errors.Is(err, pathlock.ErrLost) {
				t.Errorf("a lost lock is not noticed through gin's context: %v", err)
			}
			go func() {
				<-over
				asked <- ask(copied)
			}()
			c.Status(http.StatusNoContent)
		}
		if w := f.send("DELETE", "/suites/3", ""); w.Code != http.StatusNoContent {
			t.Errorf("answer %d: %s", w.Code, w.Body)
		}
		close(over)
		if err := <-asked; err != nil && !fallback {
			t.Errorf("the copy of an ended request's context cannot take locks of its own: %v", err)
		}
		f.nothingLeft()
	}
}

func TestUnknownRoutesStayUnknown(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	locks := middleware.New(f.locker, f.nodes, middleware.Config{})
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.Use(locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))))
	engine.PATCH("/suites/:id", func(c *gin.Context) { c.String(http.StatusOK, "%v", f.held()) })
	f.engine = engine
	for request, want := range map[string]int{"PATCH /suites": 404, "PUT /suites/3": 405, "PATCH /suites/x": 400, "PATCH /suites/3": 200} {
		method, path, _ := strings.Cut(request, " ")
		if w := f.send(method, path, `{"name":"n"}`); w.Code != want {
			t.Errorf("%s: answer %d, want %d: %s", request, w.Code, want, w.Body)
		}
	}
}

func TestLocksThatAreHeldForTooLongAreLetGo(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{MaxHold: time.Millisecond})
	locks := middleware.New(f.locker, f.nodes, middleware.Config{})
	f.handler = func(c *gin.Context) {
		<-c.Request.Context().Done()
		lock, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Gate: true})
		if err != nil {
			t.Errorf("the tree is still held: %v", err)
		} else {
			_ = lock.Release(t.Context())
		}
		// A driver tells of the end of the context, and not why it has ended.
		_, err = f.locker.Acquire(c.Request.Context(), pathlock.Request{Tree: plan, Gate: true})
		locks.Fail(c, err)
	}
	w := f.send("DELETE", "/suites/3", "")
	if kind, _ := f.problem(w)["type"].(string); w.Code != http.StatusServiceUnavailable || !strings.HasSuffix(kind, ":timeout") {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
	f.nothingLeft()
}
