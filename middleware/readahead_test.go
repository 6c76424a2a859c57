package middleware_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A client that does not send its body to the end is answered in time, and locks nothing meanwhile,
// whether or not the spec needs a value of the body.
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
			server := httptest.NewUnstartedServer(f.engine)
			server.Config.ReadTimeout = own
			server.Start()
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", route); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Error(err)
			}
			if resp.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(body), "request-timeout") || strings.Contains(string(body), "127.0.0.1") {
				t.Errorf("%s: answer %d: %s", route, resp.StatusCode, body)
			}
			if !resp.Close {
				t.Errorf("%s: the connection is to be used again, whose next bytes nobody understands", route)
			}
			if store.times > 0 {
				t.Errorf("%s: something was locked", route)
			}
			_ = resp.Body.Close()
			_ = conn.Close()
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
			t.Errorf("the request's context ends with %v", context.Cause(c.Request.Context()))
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
	for _, length := range []int{0, 1, limit - 1, limit, limit + 1, 3 * limit, 100 * limit} {
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
			server := f.serve()
			body := func(text string) io.Reader {
				if chunked {
					return io.MultiReader(strings.NewReader(text))
				}
				return strings.NewReader(text)
			}
			if status, answer := f.post(server, "/plans", "", body(sent)); status != http.StatusNotFound {
				t.Errorf("answer %d: %s", status, answer)
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, server.URL+"/suites/3", body(sent))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := server.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusNoContent || got != sent {
				t.Errorf("%d bytes, chunked: %v: answer %d, the handler read %d", length, chunked, resp.StatusCode, len(got))
			}
			if length == 0 {
				continue
			}
			json := `{"target":{"parent_id":4},"x":"` + sent + `"}`
			want := http.StatusNoContent
			if len(json) > limit {
				want = http.StatusRequestEntityTooLarge
			}
			if status, answer := f.post(server, "/suites/3/move", "application/json", body(json)); status != want {
				t.Errorf("%d bytes, chunked: %v: answer %d, want %d: %s", len(json), chunked, status, want, answer)
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
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
}
