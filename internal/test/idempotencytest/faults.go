package idempotencytest

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/middleware"
)

// checkSlowBodies checks that a client which does not send its body to the end is answered in time,
// that its key stays free, and that the bound is one of the body alone.
func (d Database) checkSlowBodies(t *testing.T) {
	const bound = 100 * time.Millisecond
	s := d.open(t, idempotency.Config{BodyTimeout: bound})
	server := httptest.NewServer(s.gin)
	defer server.Close()
	k := key()
	head := fmt.Sprintf("POST /plain HTTP/1.1\r\nHost: x\r\nX-User: anybody\r\n%s: %s\r\nContent-Length: %d\r\n\r\n", idempotency.Header, k, len(item(k)))
	post := func(body string) (status int, replayed string, ends bool) {
		t.Helper()
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		testerr.Must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		testerr.Must(t, testerr.Of(fmt.Fprint(conn, head, body)))
		got, err := http.ReadResponse(bufio.NewReader(conn), nil)
		testerr.Must(t, err)
		testerr.None(t, got.Body.Close())
		return got.StatusCode, got.Header.Get(idempotency.ReplayedHeader), got.Close
	}
	if status, _, ends := post("{"); status != http.StatusRequestTimeout || !ends {
		t.Fatalf("%d, the end of the connection: %t; want 408, true", status, ends)
	}
	s.at = func(step string) {
		if step == "claimed" {
			time.Sleep(2 * bound) // the deadline of the body has passed
		}
	}
	for _, replayed := range []string{"", "true"} {
		if status, again, _ := post(item(k)); status != http.StatusCreated || again != replayed {
			t.Errorf("%d, replayed: %q, want %q", status, again, replayed)
		}
	}
	s.expectOrders(t, k, 1)
}

// checkFailing makes the database fail when a key is claimed, and when its answer is recorded.
// Statements that it aborts in favour of others are retried.
func (d Database) checkFailing(t *testing.T) {
	var log strings.Builder
	s := d.open(t, idempotency.Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	var next []error // of the statements that come
	_ = s.db.Callback().Raw().Before("gorm:raw").Register("idempotencytest:fails", func(db *gorm.DB) {
		if len(next) > 0 {
			_ = db.AddError(next[0])
			next = next[1:]
		}
	})
	locked, gone := pathlock.FailureLocked.New("a deadlock"), pathlock.FailureDatabase.New("no connection")
	for _, c := range []struct {
		status          int
		problem, logged string
		failures        []error
	}{
		{http.StatusCreated, "", "", []error{locked, locked, nil, locked}},
		{http.StatusServiceUnavailable, "database-unavailable", "claiming a key failed", []error{gone}},
		{http.StatusCreated, "", "recording the end of a request failed", []error{nil, gone}},
	} {
		log.Reset()
		next = c.failures
		if got := s.send(context.Background(), ordering("/nothing", key())); got.status != c.status || !strings.Contains(got.body, c.problem) {
			t.Errorf("%v: %d %s, want %d %s", c.failures, got.status, got.body, c.status, c.problem)
		}
		if said := log.String(); !strings.Contains(said, c.logged) || strings.Count(said, "\n") > len(c.logged) {
			t.Errorf("%v: logged %q, want %q", c.failures, said, c.logged)
		}
	}
	ended, leave := context.WithCancel(t.Context())
	leave()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if got := s.send(ended, ordering("/nothing", key())); got.status != middleware.StatusClientGone || !strings.Contains(got.body, "client-gone") {
		t.Errorf("a client that has gone away: %d %s", got.status, got.body)
	}
	if got := s.send(late, ordering("/nothing", key())); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "timeout") {
		t.Errorf("a request past its deadline: %d %s", got.status, got.body)
	}
}

// checkUnanswered has the database claim a key, and loses its answer: nothing runs, so the key is
// free.
func (d Database) checkUnanswered(t *testing.T) {
	s := d.open(t, idempotency.Config{Wait: pathlock.NoWait})
	for _, db := range s.pools {
		_ = db.Callback().Raw().After("gorm:raw").Register("idempotencytest:unanswered", func(db *gorm.DB) {
			if strings.HasPrefix(db.Statement.SQL.String(), "INSERT") && db.Error == nil && s.at != nil {
				_ = db.AddError(pathlock.FailureDatabase.New("the connection broke"))
			}
		})
	}
	for _, path := range []string{"/nothing", once} {
		one := ordering(path, key())
		s.at = func(string) {}
		if got := s.send(t.Context(), one); got.status < http.StatusInternalServerError {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		s.at = nil
		if got := s.send(t.Context(), one); got.status != http.StatusCreated {
			t.Errorf("%s, repeated: %d %s", path, got.status, got.body)
		}
	}
}

// checkReadLate reads from a copy of the database, where the row is not to be seen yet: it looks as
// seldom as at a row that is there, and no longer than it waits.
func (d Database) checkReadLate(t *testing.T) {
	message := ordering(once, key())
	if got := d.open(t, idempotency.Config{}).send(t.Context(), message); got.status != http.StatusCreated {
		t.Fatalf("the first one: %+v", got)
	}
	behind := d.open(t, idempotency.Config{Wait: 100 * time.Millisecond})
	looks := 0
	late := func(db *gorm.DB) {
		if text := db.Statement.SQL.String(); strings.Contains(text, "AS lapsed") {
			if strings.HasPrefix(text, "SELECT") {
				t.Error("dbresolver asks a replica, where the row may never be")
			}
			looks++
			db.Statement.Vars[0] = "not there yet"
		}
	}
	db := behind.pools[1] // of messages
	testerr.Must(t, db.Callback().Row().Before("gorm:row").Register("idempotencytest:late", late))
	testerr.Must(t, db.Callback().Query().Before("gorm:query").Register("idempotencytest:late", late))
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if got := behind.send(ctx, message); got.status != http.StatusConflict || looks == 0 || looks > 20 {
		t.Errorf("%+v after %d looks; want 409 after a few", got, looks)
	}
}
