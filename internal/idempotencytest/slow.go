package idempotencytest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/idempotency"
)

// checkSlowBodies checks that a client which does not send its body to the end is answered in time,
// that its key stays free, and that the bound is one of the body alone.
func (d Database) checkSlowBodies(t *testing.T) {
	const bound = 100 * time.Millisecond
	for _, own := range []time.Duration{0, bound} { // the server's ReadTimeout
		config := idempotency.Config{BodyTimeout: bound}
		if own > 0 {
			config.BodyTimeout = time.Hour
		}
		s := d.open(t, config)
		server := httptest.NewUnstartedServer(s.gin)
		server.Config.ReadTimeout = own
		server.Start()
		k := key()
		send := func(conn net.Conn, rest string) (int, string, bool) {
			if _, err := fmt.Fprintf(conn, "POST /plain HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Length: %d\r\n\r\n{%s", idempotency.Header, k, len(item(k)), rest); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Error(err)
			}
			_ = response.Body.Close()
			return response.StatusCode, string(body), response.Close
		}
		dial := func() net.Conn {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			return conn
		}
		conn := dial()
		if status, body, closes := send(conn, ""); status != http.StatusRequestTimeout || !strings.Contains(body, "request-timeout") || !closes {
			t.Errorf("a body that does not come: %d %s, closes: %v", status, body, closes)
		}
		_ = conn.Close()
		if own == 0 {
			s.at = func(step string) {
				if step == "claimed" {
					time.Sleep(2 * bound) // the deadline would have passed
				}
			}
		}
		conn = dial()
		for range 2 {
			if status, body, closes := send(conn, item(k)[1:]); status != http.StatusCreated || closes {
				t.Errorf("a body that comes: %d %s, closes: %v", status, body, closes)
			}
		}
		_ = conn.Close()
		server.Close()
		if n := s.orders(t, k); n != 1 {
			t.Errorf("%d orders", n)
		}
	}
}
