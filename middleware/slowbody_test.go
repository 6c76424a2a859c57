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
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// half is a request of which the end does not come.
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
