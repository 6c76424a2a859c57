package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestProblem_answersFailuresBeforeTheHandler(t *testing.T) {
	for _, tt := range []struct {
		method, target, body string
		status               int
		kind, field          string
	}{
		{"DELETE", "/suites/abc", ``, 400, "invalid-request", "id"},
		{"DELETE", "/suites/99", ``, 404, "not-found", ""},
		{"PATCH", "/suites/3", `{"name"`, 400, "invalid-request", ""},
		{"PATCH", "/suites/3", `{"name":"a/b"}`, 400, "invalid-request", "name"},
		{"POST", "/suites/2/move", `{"target":{"parent_id":3}}`, 409, "would-cycle", ""},
		{"POST", "/suites/1/move", `{"target":{"parent_id":2}}`, 400, "invalid-request", "id"},
		{"PATCH", "/suites/3", `{"name":"` + strings.Repeat("x", 2000) + `"}`, 413, "too-large", ""},
	} {
		f := newFixture(t, memstore.New(), middleware.Config{MaxBody: 1000})
		f.handler = f.mustNotServe
		w := f.send(tt.method, tt.target, tt.body)
		f.is(tt.target, w, tt.status, tt.kind)
		p := f.problem(w)
		if p.Field != tt.field {
			t.Errorf("%s: the field is %q, want %q", tt.target, p.Field, tt.field)
		}
		for _, internal := range []string{"strconv", "EOF", "json:", "lockspec", "middleware", "pathlock"} {
			if strings.Contains(p.Detail, internal) {
				t.Errorf("%q speaks of what is behind the interface: %q", p.Detail, internal)
			}
		}
		f.nothingLeft()
	}
}

// stated states a failure itself, in words that have those of others.
type stated struct{ err error }

func (e *stated) Error() string             { return "name taken: a sibling: " + e.err.Error() }
func (e *stated) Failure() pathlock.Failure { return pathlock.FailureNameTaken }
func (e *stated) Unwrap() error             { return e.err }

// However an error is wrapped, what a driver said stays behind the interface.
func TestProblem_detailIsNoDriversOwn(t *testing.T) {
	taken := fmt.Errorf("%w: a sibling: %w", pathlock.FailureNameTaken.New("name taken"), &os.PathError{Op: "insert", Path: "suites", Err: io.EOF})
	for name, err := range map[string]error{
		"alone":                     taken,
		"joined":                    errors.Join(&os.PathError{Op: "rollback", Path: "suites", Err: io.EOF}, taken),
		"by another library":        &url.Error{Op: "save", URL: "suites", Err: taken},
		"by two":                    &url.Error{Op: "save", URL: "suites", Err: &net.OpError{Op: "suites", Err: taken}},
		"joined by a library's":     errors.Join(&url.Error{Op: "save", URL: "suites", Err: taken}),
		"another's joined in fmt's": fmt.Errorf("%w", errors.Join(taken, &os.PathError{Op: "rollback", Path: "suites", Err: io.EOF})),
		"in parentheses":            fmt.Errorf("name taken: a sibling (%w)", &url.Error{Op: "save", URL: "suites", Err: taken}),
		"the driver's first":        fmt.Errorf("%w: %w", &os.PathError{Op: "insert", Path: "suites", Err: io.EOF}, fmt.Errorf("%w: a sibling", pathlock.FailureNameTaken.New("name taken"))),
		"by one that states it":     &stated{&url.Error{Op: "save", URL: "suites", Err: taken}},
		"a library's within fmt's":  fmt.Errorf("name taken: a sibling: %w", &url.Error{Op: "save", URL: "suites", Err: taken}),
	} {
		p := middleware.ProblemOf(err)
		if p == nil || p.Slug() != "name-taken" || p.Detail != "name taken: a sibling" {
			t.Errorf("%s: %v", name, p)
		}
	}
}

func TestProblem_lockedByOthersIs423WithTheHolder(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait, RetryAfter: 1500 * time.Millisecond})
	lock := f.acquire("/dir1")
	f.handler = f.mustNotServe
	w := f.send("DELETE", "/suites/3", "")
	f.is("the answer", w, http.StatusLocked, "locked")
	if got := w.Header().Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After %q, want 1.5 s rounded up", got)
	}
	p := f.problem(w)
	if p.Path != "/dir1" || p.Mode != "IX" || p.Holder == nil || p.Holder.What != "rename by anna" || p.Holder.Detached {
		t.Fatalf("the problem is %s", w.Body)
	}
	if time.Since(p.Holder.Since).Abs() > time.Minute || time.Until(p.Holder.Until).Abs() > time.Minute {
		t.Errorf("the holder is %+v", p.Holder)
	}
	if strings.Contains(w.Body.String(), string(f.locker.Scope(lock.Context()).Owner())) {
		t.Error("the body shows the owner, which is all that is needed to release its locks")
	}
	f.release(lock)

	// What the store does not know of a holder is left out.
	f.failing(func(*gin.Context) error {
		return &pathlock.ConflictError{Tree: plan, Gate: true, Blocker: pathlock.Blocker{Note: "nightly", Gate: true, Mode: pathlock.ModeX}}
	})
	if w := f.send("DELETE", "/suites/3", ""); !strings.HasSuffix(w.Body.String(), `"path":"/","mode":"X","holder":{"what":"nightly"}}`) {
		t.Errorf("the problem is %s", w.Body)
	}
	f.nothingLeft()
}

func TestLock_clientThatGoesAwayLeavesTheQueue(t *testing.T) {
	store := &spy{Store: memstore.New(), queued: make(chan struct{})}
	f := newFixture(t, store, middleware.Config{Wait: time.Hour})
	lock := f.acquire("/")
	ctx, leave := context.WithCancel(t.Context())
	served := make(chan *httptest.ResponseRecorder, 1)
	go func() { served <- f.sendUnder(ctx, http.MethodDelete, "/suites/3", "") }()
	<-store.queued
	leave()
	if w := <-served; w.Code != middleware.StatusClientGone || w.Body.Len() != 0 {
		t.Errorf("logged as %d, with the body %q", w.Code, w.Body)
	}
	if snapshot, err := f.locker.Snapshot(t.Context(), plan); err != nil || len(snapshot.Waiters) != 0 || len(snapshot.Holders) != 1 {
		t.Errorf("in the lock table: %+v, %v", snapshot, err)
	}
	f.release(lock)
	f.nothingLeft()
}
