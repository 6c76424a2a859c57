package admin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// A release goes on when its browser has gone, and those who look see it at once: not with the next
// look, which is due an hour later.
func TestRelease_isFinishedWithoutItsBrowser(t *testing.T) {
	config := anybody()
	config.Poll = time.Hour
	f := newFixture(t, config)
	lock := f.hold("/dir1", "import")
	body := f.body("import")
	ctx, leave := context.WithCancel(t.Context())
	f.store.releasing = func() error { leave(); return nil }
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/admin/locks/api/release", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	f.page.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	<-lock.Context().Done()
	if s := f.tree(); s.has("import") {
		t.Errorf("the page still shows %+v", s)
	}
}

// A release that the store does not answer may have taken place: the log has who asked for it and
// why, and the operator is told to look.
func TestRelease_withoutAnAnswerMayHaveTakenPlace(t *testing.T) {
	f := newFixture(t, anybody())
	f.hold("/dir1", "import")
	body := f.body("import")
	f.store.releasing = func() error { return fmt.Errorf("%w: no answer within 3s", pathlock.ErrUnavailable) }
	f.release(body).problem(t, 503, "release-unknown")
	f.logs("it may have taken place", "who=ann", `reason="stuck since noon"`, "owner="+f.owners[0].Short(), "note=import")
}

func (f *fixture) release(body string) reply {
	f.Helper()
	return f.send("POST", "/admin/locks/api/release", body, asJSON)
}

// released requires that a release takes place.
func (f *fixture) released(body string) reply {
	f.Helper()
	r := f.release(body)
	if r.StatusCode != http.StatusOK {
		f.Errorf("%d %s", r.StatusCode, r.body)
	}
	return r
}

// logs requires that the log says all that.
func (f *fixture) logs(wanted ...string) {
	f.Helper()
	for _, want := range wanted {
		if log := f.log.String(); !strings.Contains(log, want) {
			f.Errorf("the log does not say %q: %s", want, log)
		}
	}
}

// A holder of this process learns of a release at once: not with its next renewal, which is due 10
// s later.
func TestRelease_cancelsTheHoldersContext(t *testing.T) {
	f := newFixture(t, anybody())
	lock := f.hold("/dir1", "import")
	waits := f.wait("/dir1", "rename")
	body := f.body("import")
	if r := f.released(body); string(r.body) != `{"entries":1}` {
		t.Errorf("the answer is %s", r.body)
	}
	select {
	case <-lock.Context().Done():
	case <-time.After(8 * time.Second):
		t.Fatal("the holder's context goes on")
	}
	testerr.Is(t, "the cause", context.Cause(lock.Context()), pathlock.ErrLost)
	testerr.Is(t, "the waiter", <-waits, nil)
	f.logs("an operator released a holder", "who=ann", `reason="stuck since noon"`, "tree=testplan/7", "owner="+f.owners[0].Short(), "note=import", `route="PATCH /suites/:id"`)
	if strings.Contains(f.log.String(), string(f.owners[0])) {
		t.Error("the log has the owner whole")
	}
	f.release(body).problem(t, 409, "gone")
}

// An operator can only release what the page showed: the same owner may have released that lock and
// taken another one.
func TestRelease_onlyOfTheLockThatWasSeen(t *testing.T) {
	f := newFixture(t, anybody())
	lock := f.hold("/dir1", "import")
	body := f.body("import")
	scope := f.locker.Scope(lock.Context())
	testerr.Must(t, lock.Release(t.Context()))
	next, err := f.locker.Acquire(scope.Context(t.Context()), pathlock.Request{Tree: plan(t, "7"), Claims: []pathlock.Claim{pathlock.X(pathlock.Root())}})
	testerr.Must(t, err)
	f.release(body).problem(t, 409, "gone")
	testerr.Is(t, "the later lock", next.Context().Err(), nil)
	f.release(strings.Replace(body, `"id":"7"`, `"id":"8"`, 1)).problem(t, 409, "gone")
}

// A request that waits has no fence: one owner's wait that is over is told from its next one by the
// key.
func TestRelease_onlyOfTheWaitThatWasSeen(t *testing.T) {
	f := newFixture(t, anybody())
	blocker, base := f.hold("/a", "blocks"), f.hold("/job", "job")
	job := f.locker.Scope(base.Context())
	waits := f.waitAs(job, "/a/x", "wait 1")
	body := f.body("wait 1")
	testerr.Must(t, errors.Join(blocker.Release(t.Context()), <-waits))
	blocker = f.hold("/a", "blocks again")
	waits = f.waitAs(job, "/a/x", "wait 2")
	f.release(body).problem(t, 409, "gone")
	if base.Context().Err() != nil || f.waiters() != 1 {
		t.Error("the job is gone, or its other wait")
	}
	f.released(f.body("wait 2"))
	if err := <-waits; !errors.Is(err, pathlock.ErrLost) || blocker.Context().Err() != nil {
		t.Errorf("the waiter got %v, want ErrLost; the holder: %v", err, blocker.Context().Err())
	}
}

// Stores count time in microseconds or milliseconds, in which an owner can ask twice.
func TestRelease_distinguishesSimultaneousWaits(t *testing.T) {
	wait := func(path string) pathlock.Entry {
		return pathlock.Entry{
			Owner: "0123456789abcdef", Note: path, Since: time.UnixMilli(1700000000000),
			Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(path))},
		}
	}
	f := newFixture(t, anybody())
	f.store.now = &pathlock.Snapshot{Waiters: []pathlock.Entry{wait("/a"), wait("/b")}}
	s := f.tree()
	gone, stays := s.entry(t, "/a").Key, s.entry(t, "/b").Key
	f.store.now = &pathlock.Snapshot{Waiters: []pathlock.Entry{wait("/b")}}
	if key := f.await(func(s shownTree) bool { return !s.has("/a") }).entry(t, "/b").Key; key != stays || key == gone {
		t.Errorf("the key of /b was %s and is %s; that of /a was %s", stays, key, gone)
	}
}

// Each field is checked, as are bodies that are none: the answer names what was wrong.
func TestRelease_refusesBadRequests(t *testing.T) {
	f := newFixture(t, anybody())
	lock := f.hold("/dir1", "import")
	good := f.body("import")
	reason := `"reason":"stuck since noon"`
	for _, tt := range []struct{ part, instead, field string }{
		{reason, `"reason":"  a  "`, "reason"}, {reason, `"reason":"` + strings.Repeat("x", 501) + `"`, "reason"}, {reason, `"reason":null`, "reason"},
		{reason, `"reason":"stuck\nlevel=INFO msg=forged"`, "reason"}, {reason, `"reason":"stuck \u202e"`, "reason"}, {reason, `"reason":5`, "body"},
		{`"key":`, `"other":`, "key"}, {`"testplan"`, `""`, "namespace"}, {`"7"`, `"a\nb"`, "id"},
		{good, "", "body"}, {good, "null", "namespace"}, {good, good + good, "body"}, {"stuck", "\xff\xfe", "body"},
	} {
		if p := f.release(strings.Replace(good, tt.part, tt.instead, 1)).problem(t, 400, "invalid-request"); p["field"] != tt.field {
			t.Errorf("%q: the field is %v, want %s", tt.instead, p["field"], tt.field)
		}
	}
	f.release(`{"reason":"`+strings.Repeat("x", 5000)+`"}`).problem(t, 413, "too-large")
	testerr.MustBe(t, "the lock", lock.Context().Err(), nil)
	f.released(strings.Replace(good, "stuck since noon", "卡住　很久 👩‍💻", 1))
}

func TestRelease_onlyByOperators(t *testing.T) {
	operators := func(r *http.Request) (string, error) {
		switch r.Header.Get("X-User") {
		case "":
			return "", admin.ErrUnauthorized
		case "root":
			return "root\nlevel=INFO msg=forged", nil
		default:
			return "bob", errors.New("no operator")
		}
	}
	for _, tt := range []struct {
		may    func(*http.Request) (string, error)
		user   string
		status int
		slug   string
	}{
		{nil, "root", 403, "read-only"}, {operators, "", 401, "unauthenticated"}, {operators, "bob", 403, "forbidden"}, {operators, "root", 200, ""},
	} {
		config := anybody()
		config.AuthorizeRelease = tt.may
		f := newFixture(t, config)
		lock := f.hold("/dir1", "import")
		offered := f.send("GET", "/admin/locks/", "", "X-User: "+tt.user)
		r := f.send("POST", "/admin/locks/api/release", f.body("import"), asJSON, "X-User: "+tt.user)
		if got := strings.Contains(string(offered.body), "data-release"); got != (tt.status == 200) {
			t.Errorf("%s: the page offers a release: %v", tt.user, got)
		}
		if tt.status == 200 {
			f.logs(`who="root\\nlevel=INFO msg=forged"`)
			continue
		}
		r.problem(t, tt.status, tt.slug)
		testerr.Is(t, "the lock", lock.Context().Err(), nil)
	}
}
