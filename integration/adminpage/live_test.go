package adminpage

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// lines counts the arcs of the picture, without their arrows.
const lines = `document.querySelectorAll("#waits .edge:not(.tip)").length`

// Locks and waits come, move on and go while somebody watches.
func TestThePageFollowsTheLocks(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		s := newSite(t, store, nil)
		tab := browser.Open(t, s.url(pathlock.Tree{}))
		tab.AwaitText("#trees", "Nobody holds a lock anywhere")

		importing := s.hold(request{note: "nightly import", origin: from("create", "POST /import"), claims: []pathlock.Claim{x("/regression/payments")}})
		tab.AwaitText("#trees a", "testplan/plan-001")
		tab.Click("#trees a")
		tab.AwaitText("#summary", "1 lock held")
		tab.AwaitText("#summary", "nobody waits")
		tab.AwaitText("#nodes", "regression / payments")
		tab.AwaitText("#nodes", "nightly import")
		tab.AwaitText("#nodes", "POST /import")
		tab.AwaitGone("#waits")

		renamed := s.wait(request{note: "rename", origin: from("rename", "PATCH /suites/:id"), claims: []pathlock.Claim{x("/regression/payments/cards")}})
		tab.AwaitText("#summary", "1 request waits")
		tab.AwaitText("#waits li.cause", "nightly import")
		tab.AwaitText("#waits li.cause", "1 request waits because of this")
		tab.AwaitText("#waits li.waiter", "behind nightly import")
		tab.Await("one line is drawn", lines+" === 1")
		tab.AwaitShown("#nodes .node-row.waiting")

		// The second waits for the first one only: there is no line that leads around it.
		s.wait(request{note: "move", claims: []pathlock.Claim{x("/regression")}})
		tab.AwaitText("#waits li.cause", "2 requests wait because of this")
		tab.Await("two lines are drawn", lines+" === 2")
		tab.AwaitText("#waits li:nth-child(3)", "behind rename")

		s.release(importing)
		got := <-renamed
		if got.err != nil {
			t.Fatal(got.err)
		}
		tab.AwaitText("#waits li.cause", "rename")
		tab.Await("the line to the import is gone", lines+" === 1")
		s.release(got.lock)
		tab.AwaitText("#nodes .node-row:nth-child(2)", "move")
		tab.AwaitGone("#waits")
	})
}

// The whole tree is locked by its gate, and a lock may outlive its request.
func TestGateAndDetachedLocks(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		s := newSite(t, store, nil)
		tab := s.open()
		gate := s.hold(request{note: "drop the plan", gate: true})
		tab.AwaitText("#nodes .node-row", "gate")
		tab.AwaitText("#nodes .node-row", "drop the plan")
		s.release(gate)
		tab.AwaitText("#nodes", "Nobody holds a lock in this tree")

		editing, err := s.acquire(t.Context(), request{note: "editing", claims: []pathlock.Claim{x("/a/b")}})
		if err != nil {
			t.Fatal(err)
		}
		token, err := editing.Detach(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tab.AwaitText("#nodes", "detached")
		tab.Click("#nodes .node-row:nth-child(2)")
		tab.AwaitText("#inspector", "This lock lives without a running request")
		again, err := s.locker.Attach(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		s.release(again)
		tab.AwaitText("#inspector", "It is gone")
	})
}

// The details name everything that is known of a lock, and lead to what it waits for and back.
func TestDetails(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		s := newSite(t, store, nil)
		lock := s.hold(request{note: "nightly import", origin: from("create", "POST /import"), claims: []pathlock.Claim{x("/a/b"), sh("/c")}})
		s.wait(request{note: "rename", claims: []pathlock.Claim{x("/c")}})
		tab := s.open()
		tab.Click("#waits li.waiter button")
		tab.AwaitText("#inspector", "rename")
		tab.AwaitText("#inspector", "S on /c")
		tab.Click("#inspector .link-button") // what it waits for
		tab.AwaitText("#inspector h3", "nightly import")
		for _, fact := range []string{"create", "POST /import", "app-1:4711", "req-create", fmt.Sprint(lock.Fence()), "/a/b", "/c", "Waiting for this"} {
			tab.AwaitText("#inspector", fact)
		}
		tab.Click("#inspector .others .link-button")
		tab.AwaitText("#inspector h3", "rename")
		tab.Press(chromium.KeyEscape)
		tab.AwaitGone("#inspector")
	})
}

// Another tree is chosen by a click, and by the address, which a second window may be given.
func TestTheAddressSaysWhatIsShown(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		s := newSite(t, store, nil)
		s.hold(request{note: "in the first", claims: []pathlock.Claim{x("/a")}})
		first := s.tree
		s.tree = newTree(t, "项目/七 #2&id=x")
		s.hold(request{note: "in the second", claims: []pathlock.Claim{x("/b")}})
		tab := browser.Open(t, s.url(first))
		tab.AwaitText("#nodes", "in the first")
		tab.Click("#trees li:nth-child(2) a")
		tab.AwaitText("#nodes", "in the second")
		tab.AwaitText("#tree-title", "项目/七 #2&id=x")
		beside := tab.Beside(chromium.Eval[string](tab, "location.href"))
		beside.AwaitText("#nodes", "in the second")
		chromium.Eval[bool](tab, "history.back() ?? true")
		tab.AwaitText("#nodes", "in the first")
		chromium.Eval[bool](tab, "history.forward() ?? true")
		tab.AwaitText("#nodes", "in the second")
	})
}
