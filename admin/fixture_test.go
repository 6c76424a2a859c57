package admin_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/internal/test/testchild"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watched is a store that counts snapshots, and can be made to fail between two requests.
type watched struct {
	pathlock.Store
	snapshots atomic.Int32
	delay     time.Duration // of a snapshot
	fail      error
	// now, if not nil, is what there is in every tree.
	now *pathlock.Snapshot
	// releasing, if not nil, is called before a release by force, which then fails with its error.
	releasing func() error
}

func (w *watched) ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	if w.releasing != nil {
		if err := errors.Join(w.releasing(), ctx.Err()); err != nil {
			return err
		}
	}
	return w.Store.ForceRelease(ctx, tree, owner)
}

func (w *watched) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	w.snapshots.Add(1)
	time.Sleep(w.delay)
	if err := cmp.Or(w.fail, ctx.Err()); err != nil {
		return pathlock.Snapshot{}, err
	}
	if w.now != nil {
		return *w.now, nil
	}
	return w.Store.Snapshot(ctx, tree)
}

// fixture is a page with locks to show.
type fixture struct {
	*testing.T
	store  *watched
	locker *pathlock.Locker
	page   http.Handler
	log    *testchild.Output
	// owners are those of all locks that were taken.
	owners []pathlock.Owner
}

// anybody may look, and ann may release.
func anybody() admin.Config {
	return admin.Config{
		Authorize:        func(*http.Request) error { return nil },
		AuthorizeRelease: func(*http.Request) (string, error) { return "ann", nil },
		Poll:             20 * time.Millisecond,
	}
}

func newFixture(t *testing.T, config admin.Config) *fixture {
	f := &fixture{T: t, store: &watched{Store: memstore.New()}, log: &testchild.Output{}}
	log := slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	recorder := contention.New(f.store, contention.Config{Log: log, Threshold: 1})
	t.Cleanup(recorder.Close)
	f.locker = pathlock.New(f.store, pathlock.WithLogger(log), pathlock.WithObserver(recorder), pathlock.WithInstance("web-1"))
	config.History, config.Log, config.Instance = recorder, log, "web-1"
	var err error
	if f.page, err = admin.New(f.locker, config); err != nil {
		t.Fatal(err)
	}
	return f
}

func plan(t testing.TB, id string) pathlock.Tree {
	t.Helper()
	tree, err := pathlock.NewTree("testplan", id)
	testerr.Must(t, err)
	return tree
}

// hold takes a lock on a path of plan 7 that nobody is in the way of.
func (f *fixture) hold(path, note string) *pathlock.Lock {
	f.Helper()
	ctx := pathlock.WithOrigin(f.Context(), pathlock.Origin{Operation: "rename", Route: "PATCH /suites/:id", RequestID: "r-1"})
	lock, err := f.locker.Acquire(ctx, pathlock.Request{
		Tree: plan(f, "7"), Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(path))}, Note: note, Wait: pathlock.NoWait,
	})
	testerr.Must(f, err)
	f.owners = append(f.owners, f.locker.Scope(lock.Context()).Owner())
	return lock
}

// wait asks for a path of plan 7 in the background. The channel gets the outcome.
func (f *fixture) wait(path, note string) <-chan error {
	f.Helper()
	return f.waitAs(f.locker.Scope(f.Context()), path, note)
}

func (f *fixture) waitAs(scope *pathlock.Scope, path, note string) <-chan error {
	f.Helper()
	outcome := make(chan error, 1)
	before := f.waiters()
	f.owners = append(f.owners, scope.Owner())
	go func() {
		lock, err := f.locker.Acquire(scope.Context(f.Context()), pathlock.Request{
			Tree: plan(f, "7"), Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(path))}, Note: note, Wait: time.Minute,
		})
		if err == nil {
			err = lock.Release(context.WithoutCancel(f.Context()))
		}
		outcome <- err
	}()
	for f.waiters() == before {
		time.Sleep(time.Millisecond)
	}
	return outcome
}

func (f *fixture) waiters() int {
	f.Helper()
	s, err := f.store.Store.Snapshot(f.Context(), plan(f, "7"))
	testerr.Must(f, err)
	return len(s.Waiters)
}

// reply is an answer with its body.
type reply struct {
	*http.Response
	body []byte
}

// send has the page serve a request that arrives on a loopback address. Headers are lines of the
// form "Name: value".
func (f *fixture) send(method, path, body string, headers ...string) reply {
	f.Helper()
	ctx := context.WithValue(f.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	r, w := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body)), httptest.NewRecorder()
	r.Host = "localhost"
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	f.page.ServeHTTP(w, r)
	for _, owner := range f.owners {
		if strings.Contains(w.Body.String(), string(owner)) {
			f.Errorf("an owner is shown whole: %s", w.Body)
		}
	}
	return reply{w.Result(), w.Body.Bytes()}
}

// get asks for JSON, which has to be there.
func (f *fixture) get(path string, into any) {
	f.Helper()
	r := f.send("GET", "/admin/locks"+path, "")
	if r.StatusCode != http.StatusOK {
		f.Fatalf("GET %s: %d %s", path, r.StatusCode, r.body)
	}
	if err := json.Unmarshal(r.body, into); err != nil {
		f.Fatalf("GET %s: %v", path, err)
	}
}

// problem fails the test unless the answer is a problem of that status and type.
func (r reply) problem(t testing.TB, status int, slug string) map[string]any {
	t.Helper()
	var p map[string]any
	_ = json.Unmarshal(r.body, &p)
	kind, _ := p["type"].(string)
	if r.StatusCode != status || !strings.HasSuffix(kind, ":"+slug) || r.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("answer %d %s %s, want %d and the problem %s", r.StatusCode, r.Header.Get("Content-Type"), r.body, status, slug)
	}
	return p
}

// shownTree is what a client needs of api/tree.
type shownTree struct{ Holders, Waiters []shownEntry }

type shownEntry struct {
	Key, Owner, Note, Operation, Route, Instance string
	RequestID                                    string `json:"request_id"`
	Fence                                        uint64
	Gate, Detached                               bool
	Claims                                       []struct{ Path, Mode string }
	WaitedFor                                    int `json:"waited_for"`
	WaitsFor                                     []struct {
		Key, Path, Mode string
	} `json:"waits_for"`
}

// tree returns plan 7 as the page shows it.
func (f *fixture) tree() shownTree {
	f.Helper()
	var got shownTree
	f.get("/api/tree?namespace=testplan&id=7", &got)
	return got
}

// await returns plan 7 as soon as the page shows it as wanted.
func (f *fixture) await(wanted func(shownTree) bool) shownTree {
	f.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		s := f.tree()
		if wanted(s) {
			return s
		}
		if time.Now().After(deadline) {
			f.Fatalf("the page does not come to show what is wanted: %+v", s)
		}
	}
}

// entry returns the entry of plan 7 with a note, as soon as the page shows it.
func (f *fixture) entry(note string) shownEntry {
	f.Helper()
	return f.await(func(s shownTree) bool { return s.has(note) }).entry(f, note)
}

func (s shownTree) entries() []shownEntry { return slices.Concat(s.Holders, s.Waiters) }

// has reports whether an entry has a note.
func (s shownTree) has(note string) bool {
	return slices.ContainsFunc(s.entries(), func(e shownEntry) bool { return e.Note == note })
}

// entry returns the entry with a note.
func (s shownTree) entry(t testing.TB, note string) shownEntry {
	t.Helper()
	for _, e := range s.entries() {
		if e.Note == note {
			return e
		}
	}
	t.Fatalf("no entry has the note %q: %+v", note, s.entries())
	return shownEntry{}
}
