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
const half = " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"name\":"

// dial sends raw text to a server of the fixture's engine, and returns the connection.
func (f *fixture) dial(server *httptest.Server, raw string) net.Conn {
	f.Helper()
	conn, err := (&net.Dialer{}).DialContext(f.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, raw); err != nil {
		f.Fatal(err)
	}
	return conn
}

// answer reads the answer to what was sent, and whether it is the connection's last.
func (f *fixture) answer(conn net.Conn) (status int, body string, last bool) {
	f.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		f.Fatal(err)
	}
	return response.StatusCode, string(text), response.Close
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

// A client that does not send its body to the end is answered in time, and locks nothing meanwhile,
// whether or not the spec needs a value of the body. The limit may be the server's own.
func TestSlowBodiesLockNothing(t *testing.T) {
	for _, route := range []string{"PATCH /suites/3", "DELETE /suites/3"} {
		for _, own := range []time.Duration{0, 100 * time.Millisecond} { // the server's ReadTimeout
			store := &asked{Store: memstore.New()}
			config := middleware.Config{BodyTimeout: 100 * time.Millisecond}
			if own > 0 {
				config.BodyTimeout = time.Hour
			}
			f := newFixture(t, store, config)
			f.handler = func(*gin.Context) { t.Error("the handler was called") }
			handler := f.engine.Handler()
			engine := gin.New()
			engine.Use(func(c *gin.Context) {
				handler.ServeHTTP(&wrapped{ResponseWriter: &wrapped{ResponseWriter: c.Writer}}, c.Request)
				c.Abort()
			})
			server := httptest.NewUnstartedServer(engine)
			server.Config.ReadTimeout = own
			server.Start()
			status, body, last := f.answer(f.dial(server, route+half))
			if status != http.StatusRequestTimeout || !strings.Contains(body, "request-timeout") || strings.Contains(body, "127.0.0.1") {
				t.Errorf("%s: answer %d: %s", route, status, body)
			}
			if !last {
				t.Errorf("%s: the connection is to be used again, whose next bytes nobody understands", route)
			}
			if store.times > 0 {
				t.Errorf("%s: something was locked", route)
			}
			server.Close()
		}
	}
}

// The time for the body is that of the body alone: afterwards the connection is as it was.
func TestHandlersMayTakeLongerThanBodies(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{BodyTimeout: 200 * time.Millisecond})
	f.handler = func(c *gin.Context) {
		select {
		case <-c.Request.Context().Done():
			t.Error("the request's context ends")
		case <-time.After(250 * time.Millisecond): // the deadline would have passed
		}
		c.Status(http.StatusNoContent)
	}
	server := f.serve()
	for range 2 {
		if status, body := f.post(server, "/suites/3/move", "application/json", strings.NewReader(`{"target":{"parent_id":4}}`)); status != http.StatusNoContent {
			t.Errorf("answer %d: %s", status, body)
		}
	}
}

// What a handler reads is what the client sent, however long it is; what the spec needs a value of
// is limited.
func TestBodiesAreHandedOnWhole(t *testing.T) {
	const limit = 1000
	for _, length := range []int{0, 1, limit - len(`{"target":{"parent_id":4},"x":""}`), limit, limit + 1, 100 * limit} {
		for _, chunked := range []bool{false, true} {
			f := newFixture(t, memstore.New(), middleware.Config{MaxBody: limit})
			sent, got := strings.Repeat("x", length), ""
			f.handler = func(c *gin.Context) {
				body, err := io.ReadAll(c.Request.Body)
				if err != nil {
					t.Error(err)
				}
				got = string(body)
				c.Status(http.StatusNoContent)
			}
			body := func(text string) io.Reader {
				if chunked {
					return io.MultiReader(strings.NewReader(text))
				}
				return strings.NewReader(text)
			}
			server := f.serve()
			if status, answer := f.post(server, "/query?parent=2", "", body(sent)); status != http.StatusBadRequest {
				t.Errorf("without a name: answer %d: %s", status, answer)
			}
			json := `{"target":{"parent_id":4},"x":"` + sent + `"}`
			want := http.StatusNoContent
			if len(json) > limit {
				want = http.StatusRequestEntityTooLarge
			}
			if status, answer := f.post(server, "/suites/3/move", "application/json", body(json)); status != want || want == http.StatusNoContent && got != json {
				t.Errorf("%d bytes, chunked: %v: answer %d, want %d: %s", len(json), chunked, status, want, answer)
			}
			r := httptest.NewRequestWithContext(t.Context(), "DELETE", "/suites/3", body(sent))
			w := httptest.NewRecorder()
			if f.engine.ServeHTTP(w, r); w.Code != http.StatusNoContent || got != sent {
				t.Errorf("%d bytes, chunked: %v: answer %d, the handler read %d", length, chunked, w.Code, len(got))
			}
		}
	}
}

// unreadable fails the test when it is read.
type unreadable struct{ *testing.T }

func (u unreadable) Read([]byte) (int, error) {
	u.Error("the body was read")
	return 0, io.EOF
}

func TestABodyThatSaysItIsTooLongIsNotRead(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{MaxBody: 1000})
	r := httptest.NewRequestWithContext(t.Context(), "PATCH", "/suites/3", unreadable{t})
	r.ContentLength = 1001
	w := httptest.NewRecorder()
	f.engine.ServeHTTP(w, r)
	f.is("the answer", w, http.StatusRequestEntityTooLarge, "too-large")
}

func TestAClientThatGoesAwayWithinTheBodyIsNotABadRequest(t *testing.T) {
	for what, leave := range map[string]func(*net.TCPConn) error{
		"closes": func(c *net.TCPConn) error { return c.Close() },
		"resets": func(c *net.TCPConn) error { return errors.Join(c.SetLinger(0), c.Close()) },
	} {
		t.Run(what, func(t *testing.T) {
			var locks *middleware.Locks
			statuses := make(chan int, 1)
			f := newFixture(t, memstore.New(), middleware.Config{OnError: func(c *gin.Context, err error) {
				locks.Fail(c, err)
				statuses <- c.Writer.Status()
			}})
			locks = middleware.New(f.locker, f.nodes, middleware.Config{})
			conn, ok := f.dial(f.serve(), "PATCH /suites/3"+half).(*net.TCPConn)
			if !ok {
				t.Fatal("not TCP")
			}
			if err := leave(conn); err != nil {
				t.Fatal(err)
			}
			if status := <-statuses; status != middleware.StatusClientGone {
				t.Errorf("counted as %d", status)
			}
			f.nothingLeft()
		})
	}
}

func TestABodyThatCannotBeReadIs400WithoutInternals(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	chunked := strings.Replace(half, "Content-Length: 100\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nno length\r\n", 1)
	status, body, _ := f.answer(f.dial(f.serve(), "PATCH /suites/3"+chunked))
	if status != http.StatusBadRequest || !strings.Contains(body, "the body could not be read") {
		t.Errorf("answer %d: %s", status, body)
	}
	speaksOfNoInternals(t, strings.ReplaceAll(body, "urn:pathlock:", ""))
}

func TestALimitOfOtherMiddlewareIsReportedAsItIs(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	locks := middleware.New(f.locker, f.nodes, middleware.Config{})
	f.engine.PUT("/limited/:id", func(c *gin.Context) { c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, 20) },
		locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))))
	w := f.send("PUT", "/limited/3", `{"name":"longer than twenty bytes"}`)
	if f.is("the answer", w, http.StatusRequestEntityTooLarge, "too-large"); !strings.Contains(w.Body.String(), "at most 20 bytes") {
		t.Errorf("answer: %s", w.Body)
	}
}

// Middleware may bind the body, which gin keeps, and replace it afterwards. The request has the
// body that it has now, for ReadJSON, the spec, and each of gin's ways to read it. Whoever closes
// it closes what was there.
func TestABodyThatWasReadOrReplacedIsTheRequests(t *testing.T) {
	type renaming struct {
		Name string `json:"name"`
	}
	for how, bind := range map[string]func(*gin.Context, any) error{
		"ShouldBindJSON":         (*gin.Context).ShouldBindJSON,
		"ShouldBindBodyWithJSON": (*gin.Context).ShouldBindBodyWithJSON,
	} {
		for _, with := range []string{"", `{"name":"new"}`} {
			f := newFixture(t, memstore.New(), middleware.Config{})
			locks := middleware.New(f.locker, f.nodes, middleware.Config{})
			replacement := &closes{Reader: strings.NewReader(with)}
			read := func(c *gin.Context) {
				var body renaming
				if err := c.ShouldBindBodyWithJSON(&body); err != nil {
					t.Error(err)
				}
				if with != "" {
					c.Request.Body, c.Request.ContentLength = replacement, int64(len(with))
				}
			}
			look := func(c *gin.Context) {
				if got, err := locks.ReadJSON(c); err != nil || !strings.Contains(string(got), `"name"`) {
					t.Errorf("ReadJSON returns %q, %v", got, err)
				}
			}
			f.engine.PATCH("/read/:id", read, look, locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))), look, func(c *gin.Context) {
				var body renaming
				if err := bind(c, &body); err != nil {
					t.Error(err)
				}
				c.String(http.StatusOK, "%s %s", body.Name, strings.Join(f.held(), ", "))
				if err := c.Request.Body.Close(); err != nil || with != "" && !replacement.closed {
					t.Errorf("the body was not closed: %v", err)
				}
			})
			want := "old X /dir1/dir2, X /dir1/old"
			if with != "" {
				want = "new X /dir1/dir2, X /dir1/new"
			}
			if w := f.send("PATCH", "/read/3", `{"name":"old"}`, "Content-Type", "application/json"); w.Body.String() != want {
				t.Errorf("%s: answer %d: %s, want %s", how, w.Code, w.Body, want)
			}
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

func TestReadJSONRefusesWhatASpecWouldRefuse(t *testing.T) {
	const limit = 100
	long := strings.Repeat(" ", limit+1)
	for _, tt := range []struct {
		what, method, body, contentType string
		want                            int
	}{
		{"JSON that does not say so", "POST", "{}", "", 0},
		{"the body of a DELETE", "DELETE", "{}", "application/merge-patch+json", 0},
		{"no body, of whatever type", "POST", "", "text/plain", 0},
		{"a text", "POST", "{}", "text/plain", http.StatusUnsupportedMediaType},
		{"another character set", "POST", "{}", "application/json; charset=utf-16", http.StatusUnsupportedMediaType},
		{"too long", "POST", long, "", http.StatusRequestEntityTooLarge},
	} {
		t.Run(tt.what, func(t *testing.T) {
			f := newFixture(t, memstore.New(), middleware.Config{})
			locks := middleware.New(f.locker, f.nodes, middleware.Config{MaxBody: limit, JSONTypes: []string{"application/merge-patch+json"}})
			var got []byte
			var failure error
			f.engine.Handle(tt.method, "/read", func(c *gin.Context) { got, failure = locks.ReadJSON(c) })
			var headers []string
			if tt.contentType != "" {
				headers = []string{"Content-Type", tt.contentType}
			}
			f.send(tt.method, "/read", tt.body, headers...)
			status := 0
			if p := middleware.ProblemOf(failure); p != nil {
				status = p.Status
			}
			if status != tt.want || tt.want == 0 && (failure != nil || string(got) != tt.body) {
				t.Errorf("got %q, %v; want %d", got, failure, tt.want)
			}
		})
	}
}
