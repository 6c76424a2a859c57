package adminpage

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// An operator releases a stuck holder: the reason is asked for, the holder is cancelled, who waits
// goes on, and the log says who did it and why.
func TestAStuckHolderIsReleased(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		s := newSite(t, store, nil)
		stuck := s.hold(request{note: "stuck import", origin: from("create", "POST /import"), claims: []pathlock.Claim{x("/a")}})
		again, err := s.acquire(stuck.Context(), request{note: "its second part", claims: []pathlock.Claim{x("/b")}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = again.Release(context.WithoutCancel(t.Context())) })
		waiting := s.wait(request{note: "rename", claims: []pathlock.Claim{x("/a/c")}})

		tab := s.open()
		tab.Click("#waits li.cause button")
		tab.Click("#release")
		tab.AwaitShown("#release-dialog")
		tab.AwaitText("#release-dialog", "stuck import on app-1:4711")
		tab.AwaitText("#release-dialog", "2 entries")
		tab.AwaitText("#release-dialog", "/b")
		tab.AwaitText("#release-dialog", "1 request that waits because of it may go on")
		tab.Await("the reason has the focus", `document.activeElement.id === "release-reason"`)

		tab.Await("the dialogue is closed and opened at once",
			`(document.querySelector("#release-dialog").close(), document.querySelector("#release").click(), true)`)

		tab.Press("no")
		tab.Click("#release-do")
		tab.AwaitText("#release-answer", "at least 3 characters")
		if err := stuck.Context().Err(); err != nil {
			t.Fatalf("the holder is cancelled before there is a reason: %v", err)
		}

		tab.Fill("#release-reason", "stuck since the deploy, agreed with Bob")
		tab.Click("#release-do")
		tab.AwaitText("#release-answer", "2 entries were taken away")
		select {
		case <-stuck.Context().Done():
			if cause := context.Cause(stuck.Context()); !errors.Is(cause, pathlock.ErrLost) {
				t.Errorf("the holder's context ended because of %v", cause)
			}
		case <-time.After(time.Minute):
			t.Fatal("the holder is not cancelled")
		}
		if got := <-waiting; got.err != nil {
			t.Errorf("the waiter got %v", got.err)
		}
		for _, said := range []string{"who=ann", `reason="stuck since the deploy, agreed with Bob"`, "testplan/plan-001"} {
			if log := s.log.String(); !strings.Contains(log, said) {
				t.Errorf("the log does not say %s:\n%s", said, log)
			}
		}
		tab.Click("#release-cancel") // it says Close
		tab.AwaitGone("#release-dialog")
		tab.AwaitText("#inspector", "It is gone")
		tab.AwaitGone("#release")
	})
}

// A request that waits can be ended, too.
func TestAWaitIsEnded(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		s := newSite(t, store, nil)
		s.hold(request{note: "import", claims: []pathlock.Claim{x("/a")}})
		waiting := s.wait(request{note: "rename", claims: []pathlock.Claim{x("/a/c")}})
		tab := s.open()
		tab.Click("#waits li.waiter button")
		tab.Click("#release")
		tab.AwaitText("#release-title", "End this wait?")
		tab.Press("queue too long")
		tab.Click("#release-do")
		tab.AwaitText("#release-answer", "1 entry was taken away")
		if got := <-waiting; got.err == nil {
			t.Error("the waiter got the lock")
		}
		tab.AwaitText("#summary", "nobody waits")
	})
}

// What ends by itself while the dialogue is open need not be released.
func TestTheHolderLetsGoWhileTheDialogueIsOpen(t *testing.T) {
	s := newSite(t, memstore.New(), nil)
	lock := s.hold(request{note: "import", claims: []pathlock.Claim{x("/a")}})
	tab := s.open()
	tab.Click("#nodes .node-row:nth-child(2)")
	tab.Click("#release")
	tab.AwaitShown("#release-dialog")
	s.release(lock)
	tab.AwaitText("#release-answer", "it has ended by itself")
	tab.AwaitGone("#release-do")
}

// Where the store is out of reach, the answer says so, and the release can be tried again.
func TestAReleaseThatFails(t *testing.T) {
	s := newSite(t, memstore.New(), nil)
	lock := s.hold(request{note: "import", claims: []pathlock.Claim{x("/a")}})
	tab := s.open()
	tab.Click("#nodes .node-row:nth-child(2)")
	tab.Click("#release")
	tab.Allow("503")
	s.locks.down.Store(true)
	tab.Press("stuck for an hour")
	tab.Click("#release-do")
	tab.AwaitText("#release-answer", "The lock store does not answer")
	if err := lock.Context().Err(); err != nil {
		t.Fatal(err)
	}
	s.locks.down.Store(false)
	tab.Click("#release-do")
	tab.AwaitText("#release-answer", "1 entry was taken away")
	<-lock.Context().Done()
}

// Without AuthorizeRelease, and for those whom it refuses, the page shows no button.
func TestReadOnly(t *testing.T) {
	for name, authorize := range map[string]func(*http.Request) (string, error){
		"for everybody": nil,
		"for some":      func(*http.Request) (string, error) { return "", errors.New("operators only") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, memstore.New(), func(c *admin.Config) { c.AuthorizeRelease = authorize })
			s.hold(request{note: "import", claims: []pathlock.Claim{x("/a")}})
			tab := s.open()
			tab.AwaitText("#readonly", "read-only")
			tab.Click("#nodes .node-row:nth-child(2)")
			tab.AwaitText("#inspector", "import")
			if n := tab.Count("#release"); n != 0 {
				t.Error("the page offers a release")
			}
			// The server would refuse it as well.
			tab.Allow("403")
			if got := chromium.Eval[int](tab, `fetch("api/release", {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"}).then(r => r.status)`); got != http.StatusForbidden {
				t.Errorf("the server answers a release with %d", got)
			}
		})
	}
}
