package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
)

// A release goes on when its browser has gone, and those who look see it at once: not with the next
// look, which is due an hour later.
func TestAReleaseIsFinishedWithoutItsBrowser(t *testing.T) {
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
func TestAReleaseWithoutAnAnswerMayHaveTakenPlace(t *testing.T) {
	f := newFixture(t, anybody())
	f.hold("/dir1", "import")
	body := f.body("import")
	f.store.releasing = func() error { return fmt.Errorf("%w: no answer within 3s", pathlock.ErrUnavailable) }
	f.release(body).problem(t, 503, "release-unknown")
	for _, want := range []string{"it may have taken place", "who=ann", `reason="stuck since noon"`, "owner=" + f.owners[0].Short(), "note=import"} {
		if log := f.log.String(); !strings.Contains(log, want) {
			t.Errorf("the log does not say %q: %s", want, log)
		}
	}
}

func (f *fixture) release(body string) reply {
	f.Helper()
	return f.send("POST", "/admin/locks/api/release", body, asJSON)
}

// A holder of this process learns of a release at once: not with its next renewal, which is due 10
// s later.
func TestAReleaseCancelsTheHoldersContext(t *testing.T) {
	f := newFixture(t, anybody())
	lock := f.hold("/dir1", "import")
	waits := f.wait("/dir1", "rename")
	body := f.body("import")
	r := f.release(body)
	if r.StatusCode != http.StatusOK || string(r.body) != `{"entries":1}` {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	select {
	case <-lock.Context().Done():
	case <-time.After(8 * time.Second):
		t.Fatal("the holder's context goes on")
	}
	if cause := context.Cause(lock.Context()); !errors.Is(cause, pathlock.ErrLost) {
		t.Errorf("the cause is %v", cause)
	}
	if err := <-waits; err != nil {
		t.Errorf("the waiter got %v, want the lock", err)
	}
	log := f.log.String()
	owner := f.owners[0]
	for _, want := range []string{"an operator released a holder", "who=ann", `reason="stuck since noon"`, "tree=testplan/7", "owner=" + owner.Short(), "note=import", "route=\"PATCH /suites/:id\""} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q: %s", want, log)
		}
	}
	if strings.Contains(log, string(owner)) {
		t.Error("the log has the owner whole")
	}
	f.release(body).problem(t, 409, "gone")
}

func TestAWaiterCanBeReleased(t *testing.T) {
	f := newFixture(t, anybody())
	lock := f.hold("/dir1", "import")
	waits := f.wait("/dir1", "rename")
	if r := f.release(f.body("rename")); r.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	if err := <-waits; !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("the waiter got %v, want ErrLost", err)
	}
	if lock.Context().Err() != nil {
		t.Error("the holder is gone too")
	}
}

// What the operator has not seen is not released: the same owner may have released that lock and
// taken another one.
func TestOnlyWhatWasSeenIsReleased(t *testing.T) {
	f := newFixture(t, anybody())
	lock := f.hold("/dir1", "import")
	body := f.body("import")
	scope := f.locker.Scope(lock.Context())
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	next, err := f.locker.Acquire(scope.Context(t.Context()), pathlock.Request{Tree: plan(t, "7"), Claims: []pathlock.Claim{pathlock.X(pathlock.Root())}})
	if err != nil {
		t.Fatal(err)
	}
	f.release(body).problem(t, 409, "gone")
	if next.Context().Err() != nil {
		t.Error("the later lock is gone")
	}
	f.release(strings.Replace(body, `"id":"7"`, `"id":"8"`, 1)).problem(t, 409, "gone")
}

// A request that waits has no fence: one owner's wait that is over is told from its next one by the
// key.
func TestOnlyTheWaitThatWasSeenIsReleased(t *testing.T) {
	f := newFixture(t, anybody())
	f.hold("/b", "blocks the next wait")
	for _, next := range []string{"/a/x", "/b/x"} { // the same place again, and another one
		blocker := f.hold("/a", "blocks "+next)
		base := f.hold("/job", "job")
		waits := f.waitIn(base, "/a/x", "wait 1")
		body := f.body("wait 1")
		if err := blocker.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-waits; err != nil {
			t.Fatal(err)
		}
		again := f.hold("/a", "blocks again")
		waits = f.waitIn(base, next, "wait 2")
		f.release(body).problem(t, 409, "gone")
		if base.Context().Err() != nil || f.waiters() != 1 {
			t.Errorf("next %s: the job is gone, or its other wait", next)
		}
		if r := f.release(f.body("wait 2")); r.StatusCode != http.StatusOK {
			t.Errorf("the wait that is there: %d %s", r.StatusCode, r.body)
		}
		if err := <-waits; !errors.Is(err, pathlock.ErrLost) {
			t.Errorf("the waiter got %v, want ErrLost", err)
		}
		if err := again.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// shownLocks are locks of which a test says what they are.
type shownLocks struct {
	admin.Locks
	mu       sync.Mutex
	now      pathlock.Snapshot
	released []pathlock.Owner
}

func (l *shownLocks) Snapshot(context.Context, pathlock.Tree) (pathlock.Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now, nil
}

func (l *shownLocks) ForceRelease(_ context.Context, _ pathlock.Tree, owner pathlock.Owner) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.released = append(l.released, owner)
	return nil
}

// Stores count time in microseconds or milliseconds, in which an owner can ask twice.
func TestWaitsOfTheSameMomentAreTold(t *testing.T) {
	wait := func(path string) pathlock.Entry {
		return pathlock.Entry{
			Owner: "0123456789abcdef", Note: path, Since: time.UnixMilli(1700000000000),
			Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(path))},
		}
	}
	f := newFixture(t, anybody())
	locks := &shownLocks{now: pathlock.Snapshot{Waiters: []pathlock.Entry{wait("/a"), wait("/b")}}}
	page, err := admin.New(locks, anybody())
	if err != nil {
		t.Fatal(err)
	}
	f.server.Config.Handler = page
	seen := f.body("/a")
	locks.mu.Lock()
	locks.now.Waiters = locks.now.Waiters[1:]
	locks.mu.Unlock()
	f.release(seen).problem(t, 409, "gone")
	if len(locks.released) > 0 {
		t.Error("the other wait is released")
	}
	if r := f.release(f.body("/b")); r.StatusCode != http.StatusOK || len(locks.released) != 1 {
		t.Errorf("the wait that is there: %d %s", r.StatusCode, r.body)
	}
}

func TestAReleaseHasToMakeSense(t *testing.T) {
	f := newFixture(t, anybody())
	lock := f.hold("/dir1", "import")
	good := map[string]any{}
	if err := json.Unmarshal([]byte(f.body("import")), &good); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		field string
		value any
		says  string
	}{
		{"reason", "", "reason"}, {"reason", "  a  ", "reason"}, {"reason", strings.Repeat("x", 501), "reason"}, {"reason", nil, "reason"},
		{"reason", "stuck\nlevel=INFO msg=forged", "reason"}, {"reason", "stuck \x1b[31m", "reason"}, {"reason", "stuck \u202e", "reason"}, {"reason", "a\x00bc", "reason"},
		{"reason", 5, "body"}, {"key", "", "key"}, {"key", nil, "key"}, {"key", 1, "body"},
		{"namespace", "", "namespace"}, {"id", "", "id"}, {"id", "a\nb", "id"},
	} {
		changed := map[string]any{}
		for k, v := range good {
			changed[k] = v
		}
		changed[tt.field] = tt.value
		body, err := json.Marshal(changed)
		if err != nil {
			t.Fatal(err)
		}
		if p := f.release(string(body)).problem(t, 400, "invalid-request"); p["field"] != tt.says {
			t.Errorf("%s %q: the field is %v, want %s", tt.field, tt.value, p["field"], tt.says)
		}
	}
	body := f.body("import")
	for _, broken := range []string{"", "null", "[]", body + body, body + "x", body[:len(body)-1], strings.Replace(body, "stuck", "\xff\xfe", 1)} {
		if r := f.release(broken); r.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %d %s", broken, r.StatusCode, r.body)
		}
	}
	f.release(`{"reason":"`+strings.Repeat("x", 5000)+`"}`).problem(t, 413, "too-large")
	f.release(strings.Repeat(`[`, 4000)).problem(t, 400, "invalid-request")
	if lock.Context().Err() != nil {
		t.Fatal("the lock is gone")
	}
	for _, reason := range []string{"卡住了，已问过 Bob", "卡住　很久", "stuck 👩‍💻"} {
		f.hold("/dir2", reason)
		if r := f.release(strings.Replace(f.body(reason), "stuck since noon", reason, 1)); r.StatusCode != http.StatusOK {
			t.Errorf("%q: %d %s", reason, r.StatusCode, r.body)
		}
	}
}

func TestAPageWithoutAuthorizeReleaseIsReadOnly(t *testing.T) {
	config := anybody()
	config.AuthorizeRelease = nil
	f := newFixture(t, config)
	lock := f.hold("/dir1", "import")
	f.release(f.body("import")).problem(t, 403, "read-only")
	if r := f.send("GET", "/admin/locks/", ""); strings.Contains(string(r.body), "data-release") {
		t.Errorf("the page offers a release: %s", r.body)
	}
	if lock.Context().Err() != nil {
		t.Error("the lock is gone")
	}
}

func TestWhoMayNotReleaseIsTold(t *testing.T) {
	config := anybody()
	config.AuthorizeRelease = func(r *http.Request) (string, error) {
		switch user, _, _ := r.BasicAuth(); user {
		case "":
			return "", admin.ErrUnauthorized
		case "root":
			return "root\nlevel=INFO msg=forged", nil
		default:
			return user, errors.New("no operator")
		}
	}
	f := newFixture(t, config)
	lock := f.hold("/dir1", "import")
	body := f.body("import")
	f.release(body).problem(t, 401, "unauthenticated")
	f.send("POST", "/admin/locks/api/release", body, asJSON, "Authorization: Basic Ym9iOng=").problem(t, 403, "forbidden")
	if lock.Context().Err() != nil {
		t.Error("the lock is gone")
	}
	f.send("POST", "/admin/locks/api/release", body, asJSON, "Authorization: Basic cm9vdDp4")
	if log := f.log.String(); !strings.Contains(log, `who="rootlevel=INFO msg=forged"`) {
		t.Errorf("the log: %s", log)
	}
}

// Behind a proxy, the instance that releases is not the one that showed the holder, nor the one
// that holds. The holder there learns of it with its next renewal.
func TestAnotherInstanceReleasesWhatThisOneShows(t *testing.T) {
	f := newFixture(t, anybody())
	config := anybody()
	other, err := admin.New(pathlock.New(f.store), config)
	if err != nil {
		t.Fatal(err)
	}
	ctx := pathlock.WithOrigin(t.Context(), pathlock.Origin{Route: "POST /import"})
	lock, err := f.locker.Acquire(ctx, pathlock.Request{
		Tree: plan(t, "7"), Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}, Note: "import", Lease: 3 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	body := f.body("import")
	f.server.Config.Handler = other
	if r := f.release(body); r.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	<-lock.Context().Done()
	if cause := context.Cause(lock.Context()); !errors.Is(cause, pathlock.ErrLost) {
		t.Errorf("the cause is %v", cause)
	}
}
