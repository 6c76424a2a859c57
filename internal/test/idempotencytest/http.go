package idempotencytest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/idempotency"
)

// RunHTTP checks what does not depend on the database: which requests run, and which answers are
// recorded. The database has been through [Run].
func RunHTTP(t *testing.T, d Database) {
	t.Helper()
	t.Run("replays", d.checkReplays)
	t.Run("refusals", d.checkRefusals)
	t.Run("what is recorded", d.checkRecorded)
	t.Run("answers cut short", d.checkCutShort)
	t.Run("headers of others", d.checkHeadersOfOthers)
	t.Run("answers of others", d.checkAnswersOfOthers)
	t.Run("failures by going", d.checkFailuresByGoing)
	t.Run("bodies read before", d.checkBodiesReadBefore)
	t.Run("slow bodies", d.checkSlowBodies)
	t.Run("handled twice", d.checkHandledTwice)
	t.Run("handed on", d.checkHandleContext)
	t.Run("a request of nobody", d.checkNobody)
	t.Run("statements that fail", d.checkFailing)
	t.Run("outer request", d.checkOuterRequest)
	t.Run("next request", d.checkNextRequest)
}

// create makes an order named as the key, and answers with it.
func (s *shop) create(c *gin.Context) {
	o := &Order{Item: c.GetHeader(idempotency.Header)}
	if err := s.db.WithContext(c.Request.Context()).Create(o).Error; err != nil {
		c.String(http.StatusInternalServerError, "%v", err)
		return
	}
	c.JSON(http.StatusCreated, o)
}

// expectOrders checks how many orders of an item there are.
func (s *shop) expectOrders(t *testing.T, item string, want int64) {
	t.Helper()
	if n := s.orders(t, item); n != want {
		t.Errorf("%d orders of %s, want %d", n, item, want)
	}
}

// checkReplays sends each kind of request twice.
func (d Database) checkReplays(t *testing.T) {
	s := d.open(t, idempotency.Config{Headers: []string{"set-cookie"}}) // which it never keeps
	for _, path := range []string{"/recorded", "/plain", "/implicit", "/nothing"} {
		k := key()
		one := ask{path: path, key: k, body: item(k)}
		first := s.send(one)
		first.is(t, http.StatusCreated, false, "")
		quoted := one
		quoted.key = `"` + k + `"`
		for _, again := range []ask{one, quoted} {
			second := s.send(again)
			second.is(t, http.StatusCreated, true, "")
			if second.body != first.body || second.header.Get("Content-Type") != first.header.Get("Content-Type") || second.header.Get("Set-Cookie") != "" {
				t.Errorf("%s: first %q, then %q with %v", path, first.body, second.body, second.header)
			}
			if path != "/recorded" && second.header.Get("Location") != first.header.Get("Location") {
				t.Errorf("%s: the headers are %v", path, second.header)
			}
		}
		want := int64(1)
		if path == "/nothing" {
			want = 0
		}
		if n := s.orders(t, k); n != want {
			t.Errorf("%s: %d orders", path, n)
		}
	}
	// Without a key, and by methods that change nothing, everything is as it was.
	k := key()
	for range 2 {
		s.send(ask{path: "/recorded", body: item(k)}).is(t, http.StatusCreated, false, "")
		r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/recorded", strings.NewReader(item(k)))
		r.Header.Set(idempotency.Header, k)
		s.serve(r).is(t, http.StatusCreated, false, "")
	}
	if n := s.orders(t, k); n != 4 {
		t.Errorf("%d orders without a key", n)
	}
}

// checkRefusals sends keys in ways in which they cannot be sent.
func (d Database) checkRefusals(t *testing.T) {
	s := d.open(t, idempotency.Config{Required: true, MaxBody: 100})
	s.send(ask{path: "/plain", body: item("x")}).is(t, http.StatusBadRequest, false, "idempotency-key-missing")
	s.send(ask{path: "/plain", key: "a b", body: item("x")}).is(t, http.StatusBadRequest, false, "idempotency-key-malformed")
	twice := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/plain", strings.NewReader(item("x")))
	twice.Header[idempotency.Header] = []string{"a", "a"}
	s.serve(twice).is(t, http.StatusBadRequest, false, "idempotency-key-malformed")
	s.send(ask{path: "/plain", key: key(), body: strings.Repeat("x", 101)}).is(t, http.StatusRequestEntityTooLarge, false, "too-large")
	if n := s.orders(t, "x"); n != 0 {
		t.Errorf("%d orders", n)
	}

	k := key()
	one := ask{path: "/plain", key: k, user: "ann", body: item(k)}
	s.send(one).is(t, http.StatusCreated, false, "")
	for _, other := range []ask{
		{"/plain", k, "ann", item(k) + " "}, {"/plain?x=1", k, "ann", item(k)}, {"/recorded", k, "ann", item(k)},
	} {
		s.send(other).is(t, http.StatusUnprocessableEntity, false, "idempotency-key-reused")
	}
	// Letter case counts, and somebody else's key is another one.
	s.send(ask{"/plain", strings.ToUpper(k + "z"), "ann", item(k)}).is(t, http.StatusCreated, false, "")
	s.send(ask{"/plain", k + "z", "ann", item(k)}).is(t, http.StatusCreated, false, "")
	s.send(ask{"/plain", k, "bob", item(k)}).is(t, http.StatusCreated, false, "")
	s.send(ask{"/plain", "nn" + k, "a", item(k)}).is(t, http.StatusCreated, false, "")
	s.send(one).is(t, http.StatusCreated, true, "")
	if n := s.orders(t, k); n != 5 {
		t.Errorf("%d orders", n)
	}
}

// checkNobody sends requests of callers whom nobody has authenticated. They share no scope: with a
// key, a request does nothing.
func (d Database) checkNobody(t *testing.T) {
	s := d.open(t, idempotency.Config{Scope: func(c *gin.Context) string { return c.GetHeader("X-User") }})
	k := key()
	one := ask{path: "/plain", key: k, body: item(k)}
	for range 2 {
		s.send(one).is(t, http.StatusInternalServerError, false, "internal")
	}
	s.expectOrders(t, k, 0)
	s.send(ask{path: "/plain", body: item(k)}).is(t, http.StatusCreated, false, "")
	one.user = "anna"
	s.send(one).is(t, http.StatusCreated, false, "")
	s.expectOrders(t, k, 2)
}

// checkRecorded checks which answers a repetition gets, and which requests run again.
func (d Database) checkRecorded(t *testing.T) {
	s := d.open(t, idempotency.Config{MaxAnswer: 2 << 10})
	check := func(status string, commits bool, first, then int, replayed bool, problem string) {
		t.Helper()
		k := key()
		one := ask{path: map[bool]string{true: "/answer/yes/", false: "/answer/no/"}[commits] + status, key: k, body: item(k)}
		s.send(one).is(t, first, false, "")
		s.send(one).is(t, then, replayed, problem)
		if n := s.orders(t, k); n > 1 || (n == 1) != commits {
			t.Errorf("%s: %d orders", status, n)
		}
	}
	for _, status := range []int{200, 204, 303, 400, 404, 422} {
		check(strconv.Itoa(status), true, status, status, true, "")
	}
	for _, status := range []int{206, 401, 403, 406, 408, 409, 411, 412, 415, 416, 417, 421, 423, 424, 425, 426, 428, 429, 431, 500, 503} {
		check(strconv.Itoa(status), false, status, status, false, "")
	}
	check("panic", false, 500, 500, false, "")
	// What has taken place does not take place again, whatever was answered.
	check("423", true, 423, 409, false, "idempotency-answer-lost")
	check("panic", true, 500, 409, false, "idempotency-answer-lost")

	k := key()
	s.send(ask{path: "/large", key: k}).is(t, http.StatusOK, false, "")
	s.send(ask{path: "/large", key: k}).is(t, http.StatusConflict, false, "idempotency-answer-lost")
	s.gin.POST("/empty", s.keys.Handle, func(c *gin.Context) { c.Status(http.StatusNotFound) })
	for _, again := range []bool{false, true} {
		s.send(ask{path: "/empty", key: k + "e"}).is(t, http.StatusNotFound, again, "")
	}
	// A transaction that only reads has no effect.
	for range 2 {
		s.send(ask{path: "/read", key: k + "r"}).is(t, http.StatusServiceUnavailable, false, "")
	}
}

// checkFailing has the database fail when a key is claimed, and when its answer is recorded. What
// it gives up in favour of others is tried again.
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
	fails := func(status int, problem, logged string, failures ...error) {
		t.Helper()
		log.Reset()
		next = failures
		s.send(ask{path: "/nothing", key: key()}).is(t, status, false, problem)
		if said := log.String(); !strings.Contains(said, logged) || strings.Count(said, "\n") > len(logged) {
			t.Errorf("%v: logged %q, want %q", failures, said, logged)
		}
	}
	locked, gone := pathlock.FailureLocked.New("a deadlock"), pathlock.FailureDatabase.New("no connection")
	fails(http.StatusCreated, "", "", locked, locked, nil, locked)
	fails(http.StatusServiceUnavailable, "database-unavailable", "claiming a key failed", gone)
	fails(http.StatusCreated, "", "recording the end of a request failed", nil, gone)
}
