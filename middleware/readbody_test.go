package middleware_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// half is a request of which the end does not come.
const half = "PATCH /read/3 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"name\":"

// served is a server that renames, and what its middleware answers.
type served struct {
	*fixture
	server *httptest.Server
	// failures has the error of each request that failed, statuses what it was answered.
	failures chan error
	statuses chan int
}

func serve(t *testing.T, before gin.HandlerFunc) *served {
	return serveBy(t, middleware.Config{}, before)
}

// serveBy is serve with a configuration.
func serveBy(t *testing.T, config middleware.Config, before gin.HandlerFunc) *served {
	s := &served{fixture: newFixture(t, memstore.New(), middleware.Config{}), failures: make(chan error, 1), statuses: make(chan int, 1)}
	var locks *middleware.Locks
	config.OnError = func(c *gin.Context, err error) {
		locks.Fail(c, err)
		s.failures <- err
		s.statuses <- c.Writer.Status()
	}
	locks = middleware.New(s.locker, s.nodes, config)
	s.engine.PATCH("/read/:id", before, locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))), func(*gin.Context) {
		t.Error("the handler was called")
	})
	s.server = httptest.NewServer(s.engine)
	t.Cleanup(s.server.Close)
	return s
}

// send sends raw text, and returns the connection.
func (s *served) send(raw string) net.Conn {
	s.Helper()
	conn, err := (&net.Dialer{}).DialContext(s.Context(), "tcp", s.server.Listener.Addr().String())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, raw); err != nil {
		s.Fatal(err)
	}
	return conn
}

// answer reads the answer to what was sent.
func (s *served) answer(conn net.Conn) (status int, body string) {
	s.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	speaksOfNoInternals(s.T, strings.ReplaceAll(string(text), "urn:pathlock:", ""))
	return response.StatusCode, string(text)
}

func pass(*gin.Context) {}

func TestAClientThatGoesAwayWithinTheBodyIsNotABadRequest(t *testing.T) {
	for what, leave := range map[string]func(*net.TCPConn) error{
		"closes": func(c *net.TCPConn) error { return c.Close() },
		"resets": func(c *net.TCPConn) error { return errors.Join(c.SetLinger(0), c.Close()) },
	} {
		t.Run(what, func(t *testing.T) {
			s := serve(t, pass)
			conn, ok := s.send(half).(*net.TCPConn)
			if !ok {
				t.Fatal("not TCP")
			}
			if err := leave(conn); err != nil {
				t.Fatal(err)
			}
			if err := <-s.failures; !errors.Is(err, middleware.ErrClientGone) || errors.Is(err, lockspec.ErrInvalid) {
				t.Errorf("got %v, which does not say that the client has gone", err)
			}
			if status := <-s.statuses; status != middleware.StatusClientGone {
				t.Errorf("counted as %d", status)
			}
			s.nothingLeft()
		})
	}
}

func TestABodyThatTakesTooLongIs408(t *testing.T) {
	s := serveBy(t, middleware.Config{BodyTimeout: -1}, func(c *gin.Context) {
		// What is there already is read, and then the time is over.
		if err := http.NewResponseController(c.Writer).SetReadDeadline(time.Unix(1, 0)); err != nil {
			t.Error(err)
		}
	})
	status, body := s.answer(s.send(half))
	if status != http.StatusRequestTimeout || !strings.Contains(body, "request-timeout") {
		t.Errorf("answer %d: %s", status, body)
	}
	s.nothingLeft()
}

// wrapped is a writer as gin's users wrap it, to log or to compress what is answered.
type wrapped struct {
	gin.ResponseWriter
	bytes int
}

// Write implements [io.Writer].
func (r *wrapped) Write(data []byte) (int, error) {
	r.bytes += len(data)
	return r.ResponseWriter.Write(data)
}

func TestBodiesAreLimitedInTimeWhereTheWriterIsWrapped(t *testing.T) {
	for what, wrap := range map[string]func(gin.ResponseWriter) gin.ResponseWriter{
		"once": func(w gin.ResponseWriter) gin.ResponseWriter { return &wrapped{ResponseWriter: w} },
		"twice": func(w gin.ResponseWriter) gin.ResponseWriter {
			return &wrapped{ResponseWriter: &wrapped{ResponseWriter: w}}
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := serveBy(t, middleware.Config{BodyTimeout: 50 * time.Millisecond}, func(c *gin.Context) { c.Writer = wrap(c.Writer) })
			if status, body := s.answer(s.send(half)); status != http.StatusRequestTimeout {
				t.Errorf("answer %d: %s", status, body)
			}
			s.nothingLeft()
		})
	}
}

func TestALimitOfOtherMiddlewareIsReportedAsItIs(t *testing.T) {
	for _, tt := range []struct {
		what string
		body io.Reader
	}{
		{"with a length", strings.NewReader(`{"name":"longer than twenty bytes"}`)},
		{"without a length", io.MultiReader(strings.NewReader(`{"name":"longer than twenty bytes"}`))},
	} {
		t.Run(tt.what, func(t *testing.T) {
			s := serve(t, func(c *gin.Context) { c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, 20) })
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, s.server.URL+"/read/3", tt.body)
			if err != nil {
				t.Fatal(err)
			}
			response, err := s.server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(body), "at most 20 bytes") {
				t.Errorf("answer %d: %s, %v", response.StatusCode, body, err)
			}
			if p := middleware.ProblemOf(<-s.failures); p == nil || p.Slug() != "too-large" {
				t.Errorf("OnError got %v", p)
			}
		})
	}
}

func TestABodyThatCannotBeReadIs400WithoutInternals(t *testing.T) {
	s := serve(t, pass)
	chunked := strings.Replace(half, "Content-Length: 100\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nno length\r\n", 1)
	status, body := s.answer(s.send(chunked))
	if status != http.StatusBadRequest || !strings.Contains(body, "the body could not be read") {
		t.Errorf("answer %d: %s", status, body)
	}
}

// A handler that closes the body closes what middleware before has put there.
func TestClosingTheBodyReachesWhatWasThereBefore(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	closed := &closes{Reader: strings.NewReader(`{"name":"x"}`)}
	f.handler = func(c *gin.Context) {
		if err := c.Request.Body.Close(); err != nil || !closed.closed {
			t.Errorf("the body was not closed: %v", err)
		}
		c.Status(http.StatusNoContent)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPatch, "/suites/3", closed)
	w := httptest.NewRecorder()
	if f.engine.ServeHTTP(w, r); w.Code != http.StatusNoContent {
		t.Errorf("answer %d: %s", w.Code, w.Body)
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
