package middleware_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A handler reads everything that the client sent, however long it is; a body of which the spec
// needs a value is limited.
func TestBody_isHandedOnWhole(t *testing.T) {
	const limit = 1000
	for _, length := range []int{0, limit - len(`{"target":{"parent_id":4},"x":""}`), limit, limit + 1, 100 * limit} {
		for _, chunked := range []bool{false, true} {
			f := newFixture(t, memstore.New(), middleware.Config{MaxBody: limit})
			got := ""
			f.handler = func(c *gin.Context) {
				body, err := io.ReadAll(c.Request.Body)
				testerr.None(t, err)
				got = string(body)
				c.Status(http.StatusNoContent)
			}
			filler := strings.Repeat("x", length)
			for request, sent := range map[string]string{"DELETE /suites/3": filler, "POST /suites/3/move": `{"target":{"parent_id":4},"x":"` + filler + `"}`} {
				var body io.Reader = strings.NewReader(sent)
				if chunked {
					body = io.MultiReader(body)
				}
				want := http.StatusNoContent
				if strings.HasPrefix(request, "POST") && len(sent) > limit {
					want = http.StatusRequestEntityTooLarge
				}
				method, path, _ := strings.Cut(request, " ")
				w := f.serveRequest(httptest.NewRequestWithContext(t.Context(), method, path, body))
				if f.is(request, w, want, ""); want == http.StatusNoContent && got != sent {
					t.Errorf("%s: of %d bytes, chunked: %v, the handler read %d", request, len(sent), chunked, len(got))
				}
			}
		}
	}
}

func TestBody_limitOfOtherMiddlewareIsReported(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.engine.PUT("/limited/:id", func(c *gin.Context) { c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, 20) },
		f.locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))), f.mustNotServe)
	w := f.send("PUT", "/limited/3", `{"name":"longer than twenty bytes"}`)
	if f.is("the answer", w, http.StatusRequestEntityTooLarge, "too-large"); !strings.Contains(w.Body.String(), "at most 20 bytes") {
		t.Errorf("answer: %s", w.Body)
	}
}

// Middleware may bind the body, which gin keeps, and replace it afterwards. The request has the
// body that it has now, for ReadJSON, the spec, and each of gin's ways to read it. Closing it
// closes the original body.
func TestBody_readOrReplacedBeforeTheLocks(t *testing.T) {
	type renaming struct {
		Name string `json:"name"`
	}
	for _, bind := range []func(*gin.Context, any) error{(*gin.Context).ShouldBindJSON, (*gin.Context).ShouldBindBodyWithJSON} {
		for with, want := range map[string]string{"": "old X /dir1/dir2, X /dir1/old", `{"name":"new"}`: "new X /dir1/dir2, X /dir1/new"} {
			f := newFixture(t, memstore.New(), middleware.Config{})
			replacement := &closes{Reader: strings.NewReader(with)}
			read := func(c *gin.Context) {
				testerr.None(t, c.ShouldBindBodyWithJSON(new(renaming)))
				if with != "" {
					c.Request.Body, c.Request.ContentLength = replacement, int64(len(with))
				}
			}
			look := func(c *gin.Context) {
				if got, err := f.locks.ReadJSON(c); err != nil || !strings.Contains(string(got), `"name"`) {
					t.Errorf("ReadJSON returns %q, %v", got, err)
				}
			}
			f.engine.PATCH("/read/:id", read, look, f.locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))), look, func(c *gin.Context) {
				var body renaming
				testerr.None(t, bind(c, &body))
				c.String(http.StatusOK, "%s %s", body.Name, strings.Join(f.held(), ", "))
				if err := c.Request.Body.Close(); err != nil || with != "" && !replacement.closed {
					t.Errorf("the body was not closed: %v", err)
				}
			})
			if w := f.send("PATCH", "/read/3", `{"name":"old"}`, "Content-Type", "application/json"); w.Body.String() != want {
				t.Errorf("answer %d: %s, want %s", w.Code, w.Body, want)
			}
		}
	}
}

// If a middleware reads the body and keeps it for itself, the spec cannot know it, and it does not
// count as missing.
func TestBody_readAndNotPutBack(t *testing.T) {
	id, parent := lockspec.Param("id"), lockspec.Form("parent").OrTop()
	for _, tt := range []struct {
		spec   lockspec.Spec
		kind   string
		early  func(c *gin.Context)
		status int
	}{
		{lockspec.Rename(id, lockspec.JSON("parent").Optional()), "application/json", func(c *gin.Context) { _ = c.ShouldBindJSON(&struct{}{}) }, http.StatusInternalServerError},
		{lockspec.Move(id, parent), "application/x-www-form-urlencoded", func(c *gin.Context) { _, _ = c.GetRawData() }, http.StatusInternalServerError},
		{lockspec.Move(id, parent), "application/x-www-form-urlencoded", func(c *gin.Context) { c.PostForm("x") }, http.StatusNoContent},
		{lockspec.Move(id, parent), "multipart/form-data; boundary=b", func(c *gin.Context) { c.PostForm("x") }, http.StatusNoContent},
	} {
		body := map[bool]string{true: multipartBody("parent", "4", `f"; filename="f`, "x"), false: "parent=4"}[strings.HasPrefix(tt.kind, "multipart")]
		f := newFixture(t, memstore.New(), middleware.Config{})
		f.engine.POST("/early/:id", tt.early, f.locks.Lock(tt.spec), f.holding("X /dir1/dir2", "X /other/dir2"))
		f.is(tt.kind, f.send("POST", "/early/3", body, "Content-Type", tt.kind), tt.status, "")
		if logged := strings.Contains(f.log.String(), "not put it back"); logged != (tt.status == http.StatusInternalServerError) {
			t.Errorf("%s: logged is %q", tt.kind, f.log.String())
		}
	}
}

type closes struct {
	io.Reader
	closed bool
}

func (c *closes) Close() error {
	c.closed = true
	return nil
}

// half is a request whose end does not come.
const half = " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"name\":"

// dial sends raw text to a server of the fixture's engine, and returns the connection. limit is the
// server's own ReadTimeout.
func (f *fixture) dial(raw string, limit time.Duration) net.Conn {
	f.Helper()
	server := httptest.NewUnstartedServer(f.engine)
	server.Config.ReadTimeout = limit
	server.Start()
	f.Cleanup(server.Close)
	conn, err := (&net.Dialer{}).DialContext(f.Context(), "tcp", server.Listener.Addr().String())
	testerr.Must(f, err)
	f.Cleanup(func() { _ = conn.Close() })
	testerr.Must(f, testerr.Of(io.WriteString(conn, raw)))
	return conn
}

// answer reads the answer to what was sent, and whether it is the connection's last.
func (f *fixture) answer(conn net.Conn) (status int, body string, last bool) {
	f.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	testerr.Must(f, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	testerr.Must(f, err)
	return response.StatusCode, string(text), response.Close
}

// wrapped is a writer as gin's users wrap it, to log or to compress what is answered.
type wrapped struct{ gin.ResponseWriter }

// A client that does not send its body to the end is answered in time, and locks nothing meanwhile,
// whether or not the spec needs a value of the body. The limit may be the server's own.
func TestBodyTimeout_slowBodiesLockNothing(t *testing.T) {
	const limit = 100 * time.Millisecond
	for _, route := range []string{"PATCH /suites/3", "DELETE /suites/3"} {
		for own, ours := range map[time.Duration]time.Duration{0: limit, limit: time.Hour} {
			store := &testlock.Watched{Store: memstore.New()}
			f := newFixture(t, store, middleware.Config{BodyTimeout: ours})
			f.handler = f.mustNotServe
			handler := f.engine.Handler()
			f.engine = gin.New()
			f.engine.Use(func(c *gin.Context) {
				handler.ServeHTTP(&wrapped{&wrapped{c.Writer}}, c.Request)
				c.Abort()
			})
			status, body, last := f.answer(f.dial(route+half, own))
			if status != http.StatusRequestTimeout || !strings.Contains(body, "request-timeout") || strings.Contains(body, "127.0.0.1") {
				t.Errorf("%s: answer %d: %s", route, status, body)
			}
			if !last {
				t.Errorf("%s: the connection is to be used again, whose next bytes nobody understands", route)
			}
			if len(store.Calls()) > 0 {
				t.Errorf("%s: something was locked", route)
			}
		}
	}
}

// The time for the body is that of the body alone: the deadline passes in the handler, and the
// connection serves another request.
func TestBodyTimeout_handlersMayTakeLonger(t *testing.T) {
	const limit = 200 * time.Millisecond
	f := newFixture(t, memstore.New(), middleware.Config{BodyTimeout: limit})
	f.handler = func(c *gin.Context) {
		ctx, stop := context.WithTimeout(c.Request.Context(), limit+limit/4)
		defer stop()
		if <-ctx.Done(); c.Request.Context().Err() != nil {
			t.Error("the request's context has ended")
		}
		c.Status(http.StatusNoContent)
	}
	whole := "DELETE /suites/3" + strings.Replace(half, "Content-Length: 100", "Content-Length: 8", 1)
	conn := f.dial("", 0)
	for range 2 {
		testerr.Must(t, testerr.Of(io.WriteString(conn, whole)))
		if status, body, last := f.answer(conn); status != http.StatusNoContent || last {
			t.Errorf("answer %d: %s", status, body)
		}
	}
}

func TestBody_clientThatGoesAwayIsNoBadRequest(t *testing.T) {
	statuses := make(chan int, 1)
	var f *fixture
	f = newFixture(t, memstore.New(), middleware.Config{OnError: func(c *gin.Context, err error) {
		f.locks.Fail(c, err)
		statuses <- c.Writer.Status()
	}})
	testerr.Must(t, f.dial("PATCH /suites/3"+half, 0).Close())
	if status := <-statuses; status != middleware.StatusClientGone {
		t.Errorf("counted as %d", status)
	}
	f.nothingLeft()
}

func TestBody_unreadableIs400WithoutInternals(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	chunked := strings.Replace(half, "Content-Length: 100\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nno length\r\n", 1)
	status, body, _ := f.answer(f.dial("PATCH /suites/3"+chunked, 0))
	if status != http.StatusBadRequest || !strings.Contains(body, "the body could not be read") || strings.Contains(body, "chunk") {
		t.Errorf("answer %d: %s", status, body)
	}
}
