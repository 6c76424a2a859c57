package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestFailuresAreAnsweredBeforeTheHandler(t *testing.T) {
	for _, tt := range []struct {
		what, method, target, body string
		status                     int
		kind, says                 string
	}{
		{"id that is no number", "DELETE", "/suites/abc", ``, 400, "invalid-request", "id"},
		{"id that does not exist", "DELETE", "/suites/99", ``, 404, "not-found", "99"},
		{"malformed JSON", "PATCH", "/suites/3", `{"name"`, 400, "invalid-request", ""},
		{"name with a slash", "PATCH", "/suites/3", `{"name":"a/b"}`, 400, "invalid-request", "name"},
		{"move into the own subtree", "POST", "/suites/2/move", `{"target":{"parent_id":3}}`, 409, "would-cycle", "/dir1"},
		{"move of the root", "POST", "/suites/1/move", `{"target":{"parent_id":2}}`, 400, "invalid-request", ""},
		{"body over the limit", "PATCH", "/suites/3", `{"name":"` + strings.Repeat("x", 2000) + `"}`, 413, "too-large", "1000"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			f := newFixture(t, memstore.New(), middleware.Config{MaxBody: 1000})
			f.handler = func(*gin.Context) { t.Error("the handler was called") }
			w := f.send(tt.method, tt.target, tt.body)
			f.is(tt.what, w, tt.status, tt.kind)
			detail, _ := f.problem(w)["detail"].(string)
			if !strings.Contains(detail, tt.says) {
				t.Errorf("detail %q does not say %q", detail, tt.says)
			}
			speaksOfNoInternals(t, detail)
			f.nothingLeft()
		})
	}
}

func TestLockedByOthersIs423WithTheHolder(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait, RetryAfter: 1500 * time.Millisecond})
	lock, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: claim("/dir1"), Note: "rename by anna"})
	if err != nil {
		t.Fatal(err)
	}
	f.handler = func(*gin.Context) { t.Error("the handler was called") }
	w := f.send("DELETE", "/suites/3", "")
	f.is("the answer", w, http.StatusLocked, "locked")
	if got := w.Header().Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After %q, want 1.5 s rounded up", got)
	}
	p := f.problem(w)
	holder, _ := p["holder"].(map[string]any)
	if p["path"] != "/dir1" || p["mode"] != "IX" || holder["what"] != "rename by anna" {
		t.Errorf("the problem is %v", p)
	}
	for _, when := range []string{"since", "until"} {
		text, _ := holder[when].(string)
		if at, err := time.Parse(time.RFC3339, text); err != nil || time.Since(at).Abs() > time.Minute {
			t.Errorf("holder's %s is %v", when, holder[when])
		}
	}
	if strings.Contains(w.Body.String(), string(f.locker.Scope(lock.Context()).Owner())) {
		t.Error("the body shows the owner, which is all that is needed to release its locks")
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Error(err)
	}
	f.nothingLeft()
}

func TestWhatTheStoreDoesNotKnowOfAHolderIsLeftOut(t *testing.T) {
	f := newFixture(t, mishap{memstore.New(), &pathlock.ConflictError{
		Tree: plan, Gate: true, Blocker: pathlock.Blocker{Note: "nightly", Gate: true, Mode: pathlock.ModeX},
	}}, middleware.Config{})
	p := f.problem(f.send("DELETE", "/suites/3", ""))
	holder, _ := p["holder"].(map[string]any)
	if len(holder) != 1 || holder["what"] != "nightly" || p["path"] != "/" || p["mode"] != "X" {
		t.Errorf("the problem is %v", p)
	}
}

func TestAClientThatGoesAwayLeavesTheQueue(t *testing.T) {
	store := waiting{memstore.New(), make(chan struct{})}
	f := newFixture(t, store, middleware.Config{Wait: time.Hour})
	lock, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: claim("/")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	served := make(chan *httptest.ResponseRecorder, 1)
	go func() {
		w := httptest.NewRecorder()
		f.engine.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodDelete, "/suites/3", nil))
		served <- w
	}()
	<-store.queued
	leave()
	if w := <-served; w.Code != middleware.StatusClientGone || w.Body.Len() != 0 {
		t.Errorf("logged as %d, with the body %q", w.Code, w.Body)
	}
	snapshot, err := f.locker.Snapshot(t.Context(), plan)
	if err != nil || len(snapshot.Waiters) != 0 || len(snapshot.Holders) != 1 {
		t.Errorf("in the lock table: %+v, %v", snapshot, err)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Error(err)
	}
	f.nothingLeft()
}
