package adminpage

import (
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// column returns what a column of the history shows, from top to bottom.
func column(tab *chromium.Tab, name string) []string {
	return chromium.Eval[[]string](tab, `[...document.querySelectorAll("#history-table td[data-column=`+name+`]")].map(cell => cell.innerText.split("\n")[0].trim())`)
}

// recorded counts the waits that were long enough to be recorded.
func (s *site) recorded() (waits int) {
	for _, e := range s.config.History.History().Episodes {
		waits += e.Waits
	}
	return waits
}

// stall makes requests wait until all of them have waited for long enough to be recorded.
func (s *site) stall(holder request, waiters ...request) {
	s.t.Helper()
	before := s.recorded()
	lock := s.hold(holder)
	var outcomes []<-chan outcome
	for _, w := range waiters {
		outcomes = append(outcomes, s.wait(w))
	}
	testserver.Await(s.t, "the stall is recorded", func() bool { return s.recorded() == before+len(waiters) })
	s.release(lock)
	for _, o := range outcomes {
		got := <-o
		if got.err != nil {
			s.t.Fatal(got.err)
		}
		s.release(got.lock)
	}
}

// A stall that is over is still there: who blocked whom, where and for how long, by route and by
// place, in any order.
func TestHistory(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		s := newSite(t, store, nil)
		rename := request{note: "rename", origin: from("rename", "PATCH /suites/:id"), claims: []pathlock.Claim{x("/b")}}
		insert := request{note: "insert", origin: from("insert", "POST /suites"), claims: []pathlock.Claim{x("/a")}}
		importing := from("create", "POST /import")
		s.stall(request{note: "import b", origin: importing, claims: []pathlock.Claim{x("/b")}}, rename)
		s.stall(request{note: "import a", origin: importing, claims: []pathlock.Claim{x("/a")}}, insert, insert, insert)
		s.stall(request{note: "import c", origin: importing, gate: true}, rename, insert)

		tab := s.open()
		tab.Click("#view-history")
		tab.AwaitText("#history-table", "import c")
		tab.Await("three stalls are shown, the last first", `[...document.querySelectorAll("#history-table td[data-column=blocker]")].map(c => c.innerText.split("\n")[0]).join() === "import c,import a,import b"`)

		tab.Click("th[data-column=waits] button")
		if got := column(tab, "waits"); !slices.Equal(got, []string{"3", "2", "1"}) {
			t.Errorf("sorted by waits: %v", got)
		}
		tab.Click("th[data-column=waits] button")
		if got := column(tab, "waits"); !slices.Equal(got, []string{"1", "2", "3"}) {
			t.Errorf("sorted by waits, ascending: %v", got)
		}
		if got := chromium.Eval[string](tab, `document.querySelector("th[data-column=waits]").ariaSort`); got != "ascending" {
			t.Errorf("the column says that it is sorted %q", got)
		}
		tab.Click("th[data-column=blocker] button")
		if got := column(tab, "blocker"); !slices.Equal(got, []string{"import a", "import b", "import c"}) {
			t.Errorf("sorted by blocker: %v", got)
		}

		tab.Click("#history-table .twisty-button")
		tab.AwaitText("#history-table .detail", "POST /import")
		tab.AwaitText("#history-table .detail", "then got it")
		if n := tab.Count("#history-table .detail > td > div > div:last-child li"); n != 3 {
			t.Errorf("%d waiters are listed", n)
		}

		tab.Fill("#history-filter", "PATCH /suites")
		tab.Await("one stall has no rename", `document.querySelectorAll("#history-table tbody tr:not(.detail)").length === 2`)
		tab.Fill("#history-filter", "nothing like this")
		tab.AwaitText("#history", "Nothing matches")
		tab.Fill("#history-filter", " ")

		tab.Click("#history-routes")
		tab.Click("th[data-column=route] button")
		if got := column(tab, "route"); !slices.Equal(got, []string{"PATCH /suites/:id", "POST /import", "POST /suites"}) {
			t.Errorf("the routes are %v", got)
		}
		if got := column(tab, "waits"); !slices.Equal(got, []string{"2", "0", "4"}) {
			t.Errorf("the routes waited %v times", got)
		}
		tab.Click("#history-places")
		tab.AwaitText("#history-table", "testplan/plan-001")
		tab.AwaitText("#history-table", "/a")

		// The address has what is chosen.
		beside := tab.Beside(chromium.Eval[string](tab, "location.href"))
		beside.AwaitText("#history-table", "/a")
		if got := chromium.Eval[string](beside, `document.querySelector("[role=tab][aria-selected=true]").id`); got != "history-places" {
			t.Errorf("the second window shows %s", got)
		}
	})
}

// A stall that begins while somebody looks at the history appears there.
func TestTheHistoryGoesOn(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		s := newSite(t, store, nil)
		tab := s.open()
		tab.Click("#view-history")
		tab.AwaitText("#history", "No request of this process has had to wait long")
		lock := s.hold(request{note: "import", claims: []pathlock.Claim{x("/a")}})
		s.wait(request{note: "rename", claims: []pathlock.Claim{x("/a/b")}})
		tab.AwaitText("#history-table", "import")
		tab.AwaitText("#history-table", "going on")
		s.release(lock)
		tab.Await("the stall is over", `!document.querySelector("#history-table").innerText.includes("going on")`)
	})
}
