package admin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

func TestTree_showsHoldersAndWhoWaitsForWhom(t *testing.T) {
	f := newFixture(t, anybody())
	first := f.hold("/Dir1/a", "import")
	token, err := f.hold("/dir2", "Anna edits").Detach(t.Context())
	testerr.Must(t, err)
	waits := f.wait("/dir1", "export")
	behind := f.wait("/dir1/b", "rename")
	s := f.await(func(s shownTree) bool { return len(s.Waiters) == 2 && len(s.Holders) == 2 })

	holder, waiter, last := s.entry(t, "import"), s.entry(t, "export"), s.entry(t, "rename")
	if s.Holders[0].Note != "import" || s.Waiters[0].Note != "export" {
		t.Errorf("the order is %v, %v", s.Holders, s.Waiters)
	}
	owner := f.locker.Scope(first.Context()).Owner()
	if holder.Fence != first.Fence() || holder.Owner != owner.Short() || holder.Operation != "rename" || holder.Route != "PATCH /suites/:id" ||
		holder.Instance != "web-1" || holder.RequestID != "r-1" || holder.Detached || holder.Gate || holder.WaitedFor != 1 {
		t.Errorf("the holder is %+v", holder)
	}
	if got := fmt.Sprint(holder.Claims); got != "[{/ IX} {/dir1 IX} {/dir1/a X}]" {
		t.Errorf("its claims are %s", got)
	}
	if len(waiter.WaitsFor) != 1 || waiter.WaitsFor[0].Key != holder.Key || waiter.WaitsFor[0].Path != "/dir1" ||
		waiter.WaitsFor[0].Mode != "IX" || waiter.Fence != 0 || waiter.WaitedFor != 1 {
		t.Errorf("the waiter is %+v", waiter)
	}
	if len(last.WaitsFor) != 1 || last.WaitsFor[0].Key != waiter.Key {
		t.Errorf("the one behind it is %+v", last)
	}
	if e := s.entry(t, "Anna edits"); !e.Detached || e.Gate {
		t.Errorf("the detached hold is %+v", e)
	}
	testerr.None(t, errors.Join(f.locker.ReleaseToken(t.Context(), token), first.Release(t.Context()), <-waits, <-behind))
	f.await(func(s shownTree) bool { return len(s.entries()) == 0 })
	if r := f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=7", ""); !bytes.Contains(r.body, []byte(`"holders":[],"waiters":[]`)) {
		t.Errorf("an empty tree: %s", r.body)
	}
}

// The page counts how long something has lasted by the clock that the times are by: the store's.
func TestNow_IsByTheStoresClock(t *testing.T) {
	f := newFixture(t, anybody())
	f.hold("/a", "import")
	behind := time.Now().Add(-5 * time.Minute)
	f.store.now = &pathlock.Snapshot{Now: behind, Holders: []pathlock.Entry{{Owner: "x", Since: behind.Add(-time.Second), Until: behind.Add(time.Minute)}}}
	for _, path := range []string{"/api/tree?namespace=testplan&id=7", "/api/trees"} {
		var got struct{ Now time.Time }
		f.get(path, &got)
		if off := got.Now.Sub(behind); off < -time.Second || off > time.Minute {
			t.Errorf("%s: it says %v, the store's clock %v", path, got.Now, behind)
		}
	}
}

func TestTree_isNotSentAgainUnchanged(t *testing.T) {
	f := newFixture(t, anybody())
	lock := f.hold("/dir1", "import")
	first := f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=7", "")
	again := f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=7", "", "If-None-Match: "+first.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified || len(again.body) > 0 {
		t.Errorf("%d with %d bytes, want 304", again.StatusCode, len(again.body))
	}
	testerr.Must(t, lock.Release(t.Context()))
	f.await(func(s shownTree) bool { return len(s.entries()) == 0 })
	again = f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=7", "", "If-None-Match: "+first.Header.Get("ETag"))
	if again.StatusCode != http.StatusOK {
		t.Errorf("after the release: %d, want 200", again.StatusCode)
	}
}

// Redacted texts leave the process neither in an answer nor in the log of a release. A name that is
// redacted to nothing still names a node below others.
func TestRedact_namesAndNotes(t *testing.T) {
	config := anybody()
	config.Redact = func(text string, isNote bool) string {
		switch {
		case isNote:
			return "a note"
		case text == "salaries":
			return ""
		default:
			return fmt.Sprintf("n/%d", len(text))
		}
	}
	f := newFixture(t, config)
	lock := f.hold("/payroll/salaries", "fire Bob")
	waits := f.wait("/payroll", "promote Ann")
	testerr.Must(t, errors.Join(lock.Release(t.Context()), <-waits))
	f.hold("/payroll/salaries", "fire Bob")
	entry := f.entry("a note")
	if got := entry.Claims[len(entry.Claims)-1]; got.Path != "/n∕7/…" || got.Mode != "X" {
		t.Errorf("shown is %s %s, want X /n∕7/…", got.Mode, got.Path)
	}
	shown := ""
	for _, path := range []string{"/api/tree?namespace=testplan&id=7", "/api/trees", "/api/history"} {
		shown += string(f.send("GET", "/admin/locks"+path, "").body)
	}
	if !strings.Contains(shown, `"waited_ms"`) {
		t.Errorf("the wait is not shown: %s", shown)
	}
	f.released(f.body("a note"))
	for line := range strings.SplitSeq(f.log.String(), "\n") {
		if strings.Contains(line, "pathlock admin:") {
			shown += line
		}
	}
	for _, secret := range []string{"payroll", "salaries", "Bob", "Ann"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown: %s", secret, shown)
		}
	}
}

func TestOverview_countsTrees(t *testing.T) {
	config := anybody()
	config.MaxTrees = 2
	f := newFixture(t, config)
	f.hold("/dir1", "import")
	f.hold("/dir2", "delete")
	for i := range 21 {
		testerr.Must(t, testerr.Of(f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan(t, fmt.Sprintf("8-%02d", i)), Gate: true})))
	}
	var got struct {
		Trees []struct {
			Namespace, ID    string
			Holders, Waiters *int
			HeldSince        *time.Time `json:"held_since"`
			WaitingSince     *time.Time `json:"waiting_since"`
		}
		Total int
	}
	f.get("/api/trees", &got)
	if got.Total != 22 || len(got.Trees) != 20 {
		t.Fatalf("%d trees of %d; want 20 of 22", len(got.Trees), got.Total)
	}
	if a := got.Trees[0]; a.Namespace != "testplan" || a.ID != "7" || *a.Holders != 2 || *a.Waiters != 0 || a.HeldSince.IsZero() || a.WaitingSince != nil {
		t.Errorf("the first is %+v", a)
	}
	if c := got.Trees[2]; c.Holders != nil || c.ID != "8-01" {
		t.Errorf("the third is %+v", c)
	}
	var gated shownTree
	f.get("/api/tree?namespace=testplan&id=8-00", &gated)
	if len(gated.Holders) != 1 || !gated.Holders[0].Gate || gated.Holders[0].Detached {
		t.Errorf("who holds a gate is shown as %+v", gated)
	}
}

// However many look, a tree is read once in the time of Poll. A failure is logged once, and says
// nothing of its cause to those who look.
func TestPoll_readsTheStoreOnceForAll(t *testing.T) {
	config := anybody()
	config.Poll = time.Hour
	f := newFixture(t, config)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { f.tree() })
	}
	all.Wait()
	if n := f.store.snapshots.Load(); n != 1 {
		t.Errorf("%d looks for 20 viewers, want 1", n)
	}
	f.store.fail = fmt.Errorf("%w: dial tcp secret:6379", pathlock.ErrUnavailable)
	for range 3 {
		r := f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=8", "")
		if p := r.problem(t, 503, "lock-store-unavailable"); strings.Contains(fmt.Sprint(p), "secret") || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s", r.body)
		}
	}
	if log := f.log.String(); strings.Count(log, "secret:6379") != 1 || !strings.Contains(log, "tree=testplan/8") {
		t.Errorf("the log: %s", log)
	}
}

// away are the locks of a store that is away, without which requests go on.
type away struct {
	*pathlock.Locker
	since time.Time
}

func (a away) Degraded() time.Time { return a.since }

func (away) Trees(context.Context) ([]pathlock.Tree, error) { return nil, pathlock.ErrUnavailable }

func TestPage_saysThatLockingIsDegraded(t *testing.T) {
	for _, since := range []time.Time{{}, time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)} {
		page, err := admin.New(away{since: since}, anybody())
		testerr.Must(t, err)
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/admin/locks/api/trees", nil))
		body := w.Body.String()
		if says := strings.Contains(body, `"degraded_since":"2026-11-26T12:00:00Z"`); !strings.Contains(body, ":lock-store-unavailable") || says == since.IsZero() {
			t.Errorf("%d %s, since %v", w.Code, body, since)
		}
	}
}

// A store that is far away answers for some trees in time: the others are named.
func TestOverview_namesTreesThatItCannotCountInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, anybody())
		for i := range 100 {
			testerr.Must(t, testerr.Of(f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan(t, fmt.Sprint(i)), Gate: true})))
		}
		f.store.delay = 60 * time.Millisecond
		var got struct {
			Trees []struct{ Holders *int }
			Total int
		}
		f.get("/api/trees", &got)
		if last := got.Trees[99]; got.Total != 100 || got.Trees[0].Holders == nil || last.Holders != nil {
			t.Errorf("%d trees; the last is %+v", got.Total, last)
		}
		testerr.None(t, f.locker.Shutdown(context.WithoutCancel(t.Context())))
	})
}
