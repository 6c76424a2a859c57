package admin_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/contention"
)

func TestATreeShowsWhoHoldsAndWhoWaitsForWhom(t *testing.T) {
	f := newFixture(t, anybody())
	first := f.hold("/Dir1/a", "import")
	second := f.hold("/dir2", "delete")
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
	for _, lock := range []*pathlock.Lock{first, second} {
		if err := lock.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(<-waits, <-behind); err != nil {
		t.Error(err)
	}
	f.await(func(s shownTree) bool { return len(s.entries()) == 0 })
	if r := f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=7", ""); !bytes.Contains(r.body, []byte(`"holders":[],"waiters":[]`)) {
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
	f.await(func(s shownTree) bool { return len(s.entries()) == 0 })
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
	time.Sleep(2 * contention.DefaultThreshold) // it is a wait of that time which is recorded
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
			HeldSince        *time.Time `json:"held_since"`
			WaitingSince     *time.Time `json:"waiting_since"`
		}
		Total int
	}
	f.get("/api/trees", &got)
	if got.Total != 22 || len(got.Trees) != 20 {
		t.Fatalf("%d trees of %d; want 20 of 22", len(got.Trees), got.Total)
	}
	if a := got.Trees[0]; a.Namespace != "testplan" || a.ID != "7" || *a.Holders != 1 || *a.Waiters != 1 || a.WaitingSince.Before(*a.HeldSince) {
		t.Errorf("the first is %+v", a)
	}
	if b, c := got.Trees[1], got.Trees[2]; *b.Holders != 1 || *b.Waiters != 0 || b.WaitingSince != nil || c.Holders != nil || c.ID != "8-01" {
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

// A waiter names ten of those in its way, and how many more there are.
func TestALongQueueNamesTen(t *testing.T) {
	f := newFixture(t, anybody())
	for i := range 12 {
		f.hold(fmt.Sprintf("/dir1/%d", i), fmt.Sprint("holder ", i))
	}
	f.wait("/dir1", "waiter")
	s := f.await(func(s shownTree) bool { return s.has("waiter") })
	if e := s.entry(t, "waiter"); len(e.WaitsFor) != 10 || e.More != 2 {
		t.Errorf("%+v", e)
	}
}

// However many look, a tree is read once in the time of Poll, and a failure is logged once.
func TestTheStoreIsReadOnceForAll(t *testing.T) {
	config := anybody()
	config.Poll = time.Hour
	f := newFixture(t, config)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { f.tree() })
	}
	all.Wait()
	if n := f.store.looks(); n != 1 {
		t.Errorf("%d looks for 20 viewers, want 1", n)
	}
	f.store.failBy(errors.New("the store is on fire"))
	for range 3 {
		f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=8", "").problem(t, 503, "lock-store-unavailable")
	}
	if log := f.log.String(); strings.Count(log, "the store is on fire") != 1 || !strings.Contains(log, "tree=testplan/8") {
		t.Errorf("the log: %s", log)
	}
}

// A name that is redacted to nothing is still the name of a node below others, and the log of a
// release has nothing that is redacted.
func TestANameThatIsRedactedToNothingStaysAName(t *testing.T) {
	config := anybody()
	config.Redact = func(kind admin.Kind, _ string) string { return map[admin.Kind]string{admin.KindNote: "note"}[kind] }
	f := newFixture(t, config)
	lock := f.hold("/secret/below", "secret")
	entry := f.await(func(s shownTree) bool { return s.has("note") }).entry(t, "note")
	if got := entry.Claims[len(entry.Claims)-1]; got.Path != "/…/…" || got.Mode != "X" {
		t.Errorf("shown is %s %s, want X /…/…", got.Mode, got.Path)
	}
	if r := f.release(f.body("note")); r.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	<-lock.Context().Done()
	for line := range strings.SplitSeq(f.log.String(), "\n") {
		if strings.Contains(line, "pathlock admin:") && strings.Contains(line, "secret") {
			t.Errorf("the log has %s", line)
		}
	}
}
