package admin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
)

func TestATreeShowsWhoHoldsAndWhoWaitsForWhom(t *testing.T) {
	f := newFixture(t, anybody())
	first := f.hold("/Dir1/a", "import")
	second := f.hold("/dir2", "delete")
	waits := f.wait("/dir1", "export")
	behind := f.wait("/dir1/b", "rename")
	s := f.await(func(s shownTree) bool { return len(s.Waiters) == 2 && len(s.Holders) == 2 })

	holder, waiter, last := s.entry(t, "import"), s.entry(t, "export"), s.entry(t, "rename")
	if !slices.Equal(s.Holders, []string{holder.Key, s.entry(t, "delete").Key}) || !slices.Equal(s.Waiters, []string{waiter.Key, last.Key}) {
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
	if len(waiter.WaitsFor) != 1 || waiter.WaitsFor[0].Key != holder.Key || waiter.WaitsFor[0].Waiting || waiter.WaitsFor[0].Path != "/dir1" ||
		waiter.WaitsFor[0].Mode != "IX" || waiter.Fence != 0 || waiter.WaitedFor != 1 {
		t.Errorf("the waiter is %+v", waiter)
	}
	if len(last.WaitsFor) != 1 || last.WaitsFor[0].Key != waiter.Key || !last.WaitsFor[0].Waiting {
		t.Errorf("the one behind it is %+v", last)
	}
	for _, lock := range []*pathlock.Lock{first, second} {
		if err := lock.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(<-waits, <-behind); err != nil {
		t.Error(err)
	}
	f.await(func(s shownTree) bool { return len(s.Entries) == 0 })
	if r := f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=7", ""); !bytes.Contains(r.body, []byte(`"holders":[],"waiters":[],"entries":[]`)) {
		t.Errorf("an empty tree: %s", r.body)
	}
}

func TestADetachedHoldAndAGateAreMarked(t *testing.T) {
	f := newFixture(t, anybody())
	lock := f.hold("/dir1", "Anna edits")
	token, err := lock.Detach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := f.await(func(s shownTree) bool { return s.has("Anna edits") })
	if e := s.entry(t, "Anna edits"); !e.Detached || e.Gate {
		t.Errorf("%+v", e)
	}
	if err := f.locker.ReleaseToken(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	gate, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan(t, "7"), Gate: true, Note: "import"})
	if err != nil {
		t.Fatal(err)
	}
	s = f.await(func(s shownTree) bool { return s.has("import") })
	if e := s.entry(t, "import"); !e.Gate || e.Detached {
		t.Errorf("%+v", e)
	}
	if err := gate.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAnUnchangedTreeIsNotSentAgain(t *testing.T) {
	f := newFixture(t, anybody())
	lock := f.hold("/dir1", "import")
	first := f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=7", "")
	again := f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=7", "", "If-None-Match: "+first.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified || len(again.body) > 0 {
		t.Errorf("%d with %d bytes, want 304", again.StatusCode, len(again.body))
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.await(func(s shownTree) bool { return len(s.Entries) == 0 })
	again = f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=7", "", "If-None-Match: "+first.Header.Get("ETag"))
	if again.StatusCode != http.StatusOK {
		t.Errorf("after the release: %d, want 200", again.StatusCode)
	}
}

func TestNamesAndNotesCanBeRedacted(t *testing.T) {
	config := anybody()
	config.Redact = func(kind admin.Kind, text string) string {
		if kind == admin.KindNote {
			return "a note"
		}
		return fmt.Sprintf("n/%d", len(text))
	}
	f := newFixture(t, config)
	lock := f.hold("/payroll/salaries", "fire Bob")
	waits := f.wait("/payroll", "promote Ann")
	for f.history.Version() == 0 { // the recorder has not noticed the wait yet
		time.Sleep(time.Millisecond)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; err != nil {
		t.Errorf("the waiter: %v", err)
	}
	f.hold("/payroll/salaries", "fire Bob")
	f.await(func(s shownTree) bool { return s.has("a note") })
	for _, path := range []string{"/api/tree?namespace=testplan&id=7", "/api/trees", "/api/history"} {
		r := f.send("GET", "/admin/locks"+path, "")
		for _, secret := range []string{"payroll", "salaries", "Bob", "Ann"} {
			if bytes.Contains(r.body, []byte(secret)) {
				t.Errorf("GET %s shows %q: %s", path, secret, r.body)
			}
		}
		if path != "/api/trees" && !bytes.Contains(r.body, []byte(`"/n∕7`)) {
			t.Errorf("GET %s does not show the redacted name as one name: %s", path, r.body)
		}
	}
}

func TestTheOverviewCountsTrees(t *testing.T) {
	config := anybody()
	config.MaxTrees = 2
	f := newFixture(t, config)
	f.hold("/dir1", "import")
	waits := f.wait("/dir1", "rename")
	for i := range 21 {
		if _, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan(t, fmt.Sprintf("8-%02d", i)), Gate: true}); err != nil {
			t.Fatal(err)
		}
	}
	var got struct {
		Trees []struct {
			Namespace, ID    string
			Holders, Waiters *int
			LongestWait      *int64 `json:"longest_wait_ms"`
			OldestHold       *int64 `json:"oldest_hold_ms"`
		}
		Total     int
		Truncated bool
	}
	f.get("/api/trees", &got)
	if got.Total != 22 || !got.Truncated || len(got.Trees) != 20 {
		t.Fatalf("%d trees of %d, truncated: %v; want 20 of 22", len(got.Trees), got.Total, got.Truncated)
	}
	if a := got.Trees[0]; a.Namespace != "testplan" || a.ID != "7" || *a.Holders != 1 || *a.Waiters != 1 || *a.OldestHold < *a.LongestWait {
		t.Errorf("the first is %+v", a)
	}
	if b, c := got.Trees[1], got.Trees[2]; *b.Holders != 1 || *b.Waiters != 0 || b.LongestWait != nil || c.Holders != nil || c.ID != "8-01" {
		t.Errorf("the next are %+v, %+v", b, c)
	}
	if err := f.locker.ForceRelease(t.Context(), plan(t, "7"), f.owners[0]); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; err != nil {
		t.Errorf("the waiter: %v", err)
	}
}

func TestAStoreThatDoesNotAnswerIsAProblem(t *testing.T) {
	f := newFixture(t, anybody())
	f.hold("/dir1", "import")
	f.store.failBy(fmt.Errorf("%w: dial tcp secret:6379", pathlock.ErrUnavailable))
	for _, path := range []string{"/api/tree?namespace=testplan&id=7", "/api/trees"} {
		r := f.send("GET", "/admin/locks"+path, "")
		if p := r.problem(t, 503, "lock-store-unavailable"); strings.Contains(fmt.Sprint(p), "secret") || r.Header.Get("Retry-After") == "" {
			t.Errorf("GET %s: %s", path, r.body)
		}
	}
	f.store.failBy(nil)
	for f.send("GET", "/admin/locks/api/trees", "").StatusCode != http.StatusOK {
		time.Sleep(time.Millisecond)
	}
}

// A plan of 10,000 nodes in which 500 hold and 500 wait: the page has it at once, and learns of one
// release by a small change.
func TestALargeTreeStaysUsable(t *testing.T) {
	config := anybody()
	config.Poll = 50 * time.Millisecond
	f := newFixture(t, config)
	ctx, stop := context.WithCancel(t.Context())
	outcomes := make(chan error, 500)
	var last *pathlock.Lock
	for i := range 500 {
		lock, err := f.locker.Acquire(ctx, pathlock.Request{
			Tree: plan(t, "7"), Lease: time.Hour, // no renewal is among the changes
			Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(fmt.Sprintf("/area %02d/suite %03d/case", i%20, i)))},
		})
		if err != nil {
			t.Fatal(err)
		}
		last = lock
	}
	for i := range 500 {
		go func() {
			_, err := f.locker.Acquire(ctx, pathlock.Request{
				Tree: plan(t, "7"), Lease: time.Hour, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(fmt.Sprintf("/area %02d/suite %03d", i%50%20, i%50)))}, Wait: time.Minute,
			})
			outcomes <- err
		}()
	}
	for f.waiters() < 500 {
		time.Sleep(time.Millisecond)
	}
	s := f.stream("?namespace=testplan&id=7")
	whole := s.await("tree")
	if err := last.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if change := s.await("change"); len(whole) > 1<<20 || len(change) > len(whole)/10 {
		t.Errorf("the whole has %d bytes, want up to a MiB; a change has %d, want a tenth", len(whole), len(change))
	}
	stop()
	for range 500 {
		if err := <-outcomes; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
