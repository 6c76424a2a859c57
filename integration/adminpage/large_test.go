package adminpage

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// slowest is the longest that the page took to take over an update, in milliseconds.
const slowest = `Math.max(0, ...performance.getEntriesByName("pathlock-update").map(entry => entry.duration))`

// A plan of 10,000 nodes with 500 holders stays usable: few rows are drawn, an update is quick, and
// what is looked for is found. The bound is many times what it takes.
func TestFiveHundredHolders(t *testing.T) {
	const folders, suites, cases, holders, bound = 100, 10, 10, 500, 3000
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		s := newSite(t, store, nil)
		at := func(n int) string {
			return fmt.Sprintf("/folder %d/suite %d/case %d", n%folders, n/folders%suites, n/folders/suites%cases)
		}
		for n := range holders {
			s.hold(request{note: fmt.Sprintf("holder %d", n), origin: from("rename", "PATCH /suites/:id"), claims: []pathlock.Claim{x(at(n * 19))}})
		}
		tab := s.open()
		tab.AwaitText("#summary", "500 locks held")
		tab.Click("#nodes .section-head .buttons button") // Open all
		tab.Await("all rows are known", `Number(document.querySelector("[role=treegrid]").ariaRowCount) > 500`)
		if n := tab.Count("#nodes [role=row]"); n > 100 {
			t.Errorf("%d rows are drawn", n)
		}
		tab.Press(chromium.KeyTab)
		tab.Press(chromium.KeyTab)
		tab.Await("a row has the focus", `document.activeElement.getAttribute("role") === "row"`)
		tab.Press(chromium.KeyEnd)
		tab.Await("the last row has the focus, and is in the window",
			`document.activeElement.ariaRowIndex === document.querySelector("[role=treegrid]").ariaRowCount && document.activeElement.getBoundingClientRect().bottom <= innerHeight`)

		// 50 updates, while somebody works with the page.
		tab.Fill("#nodes-filter", "holder 77")
		tab.Await("what is looked for is found", `[...document.querySelectorAll("#nodes .who")].map(e => e.innerText).join() === "holder 77"`)
		for n := range 50 {
			lock := s.hold(request{note: fmt.Sprint("passing ", n), claims: []pathlock.Claim{x(fmt.Sprintf("/folder %d/new", n))}})
			tab.AwaitText("#summary", "501 locks held")
			s.release(lock)
			tab.AwaitText("#summary", "500 locks held")
		}
		if took := chromium.Eval[float64](tab, slowest); took > bound {
			t.Errorf("an update took %.0f ms", took)
		} else {
			t.Logf("the slowest of %v updates took %.0f ms", chromium.Eval[int](tab, `performance.getEntriesByName("pathlock-update").length`), took)
		}
	})
}

// A queue of 300 is drawn in parts.
func TestALongQueue(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		s := newSite(t, store, nil)
		s.hold(request{note: "import", claims: []pathlock.Claim{x("/a")}})
		for n := range 100 {
			s.wait(request{note: fmt.Sprint("waiter ", n), claims: []pathlock.Claim{x(fmt.Sprintf("/a/%d", n%5))}})
		}
		tab := s.open()
		tab.AwaitText("#waits li.cause", "100 requests wait because of this")
		if n := tab.Count("#waits li"); n != 60 {
			t.Errorf("%d rows are drawn at first", n)
		}
		tab.Click("#waits .more")
		tab.Await("all are drawn", `document.querySelectorAll("#waits li").length === 101`)
	})
}
