package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
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

func TestUploadedFilesAreRemovedAfterTheRequest(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.engine.MaxMultipartMemory = 1
	stored := 0
	f.handler = func(c *gin.Context) {
		if _, err := c.FormFile("file"); err != nil {
			t.Error(err)
		}
		files, err := os.ReadDir(temporary)
		if stored = len(files); err != nil {
			t.Error(err)
		}
		c.Status(http.StatusNoContent)
	}
	for _, path := range []string{"/form", "/query?parent=2"} {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		for name, value := range map[string]string{"parent": "2", "name": "n"} {
			if err := w.WriteField(name, value); err != nil {
				t.Fatal(err)
			}
		}
		file, err := w.CreateFormFile("file", "big")
		if err == nil {
			_, err = file.Write(bytes.Repeat([]byte("x"), 1<<16))
		}
		if err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		server := f.serve()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, &body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", w.FormDataContentType())
		req.Header.Set("X-Name", "h")
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		server.Close() // waits for the end of the request
		if resp.StatusCode != http.StatusNoContent || stored != 1 {
			t.Errorf("%s: answer %d, %d files were stored meanwhile", path, resp.StatusCode, stored)
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("%s: files are left: %v, %v", path, left, err)
		}
	}
}

type key string

// What inner middleware does to the request is there for outer middleware afterwards, as it is
// without locks; the locks are not.
func TestOuterMiddlewareFindsWhatInnerOnesDid(t *testing.T) {
	for _, fallback := range []bool{false, true} {
		f := newFixture(t, memstore.New(), middleware.Config{})
		locks := middleware.New(f.locker, f.nodes, middleware.Config{})
		engine := gin.New()
		engine.ContextWithFallback = fallback
		var original *http.Request
		engine.Use(func(c *gin.Context) {
			ctx, cancel := context.WithCancel(context.WithValue(c.Request.Context(), key("outer"), "o"))
			defer cancel()
			c.Request = c.Request.WithContext(ctx)
			original = c.Request
			scope := f.locker.Scope(ctx)
			c.Next()
			after := c.Request.Context()
			for name, want := range map[string]any{"outer": "o", "inner": "i", "overridden": "yes"} {
				if got := after.Value(key(name)); got != want {
					t.Errorf("the value %s is %v, want %v", name, got, want)
				}
			}
			if after.Err() != nil {
				t.Errorf("the context has ended: %v", context.Cause(after))
			}
			if original.PostForm.Get("name") != "n" || c.Request.PostForm.Get("name") != "n" {
				t.Error("the form that the handler parsed is not there")
			}
			for what, of := range map[string]context.Context{"the request's": after, "gin's": c} {
				lock, err := f.locker.Acquire(of, pathlock.Request{Tree: plan, Gate: true, Wait: pathlock.NoWait})
				if err != nil {
					t.Errorf("nothing can be locked with %s context: %v", what, err)
					continue
				}
				if lock.Context().Value(key("inner")) != "i" && what == "the request's" {
					t.Error("values are lost under a further lock")
				}
				_ = lock.Release(after)
				if f.locker.Scope(of).Owner() == scope.Owner() {
					t.Errorf("%s context still has an owner", what)
				}
			}
			cancel()
			if after.Err() == nil || !errors.Is(context.Cause(after), context.Canceled) {
				t.Errorf("the context does not end with the outer one: %v", context.Cause(after))
			}
		})
		engine.POST("/suites/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), func(c *gin.Context) {
			ctx := context.WithValue(context.WithValue(c.Request.Context(), key("inner"), "i"), key("overridden"), "yes")
			c.Request = c.Request.WithContext(ctx)
			c.Next()
		}, func(c *gin.Context) {
			c.String(http.StatusOK, c.PostForm("name"))
		})
		f.engine = engine
		status, body := f.post(f.serve(), "/suites/3", "application/x-www-form-urlencoded", strings.NewReader("name=n"))
		if status != http.StatusOK || body != "n" {
			t.Errorf("answer %d: %s", status, body)
		}
		f.nothingLeft()
	}
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
