package adminpage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A proxy that keeps the stream to itself costs seconds, not the updates.
func TestAProxySwallowsTheEvents(t *testing.T) {
	s := newSite(t, memstore.New(), nil)
	s.swallow.Store(true)
	s.hold(request{note: "first", claims: []pathlock.Claim{x("/a")}})
	tab := browser.Open(t, s.url(s.tree))
	tab.AwaitText("#link", "Updates every")
	tab.AwaitText("#nodes", "first")
	second := s.hold(request{note: "second", claims: []pathlock.Claim{x("/b")}})
	tab.AwaitText("#nodes", "second")
	s.release(second)
	tab.Await("the second lock is gone", `!document.querySelector("#nodes").innerText.includes("second")`)
	// The history comes along.
	tab.Click("#view-history")
	tab.AwaitText("#history", "No request of this process has had to wait long")
}

// The page says that the server is away, and goes on by itself when it is back.
func TestTheServerRestarts(t *testing.T) {
	s := newSite(t, memstore.New(), nil)
	lock := s.hold(request{note: "before", claims: []pathlock.Claim{x("/a")}})
	tab := s.open()
	tab.AwaitText("#nodes", "before")
	tab.Allow("ERR_")
	s.stop()
	tab.AwaitText("#banner", "The server does not answer")
	tab.CheckRules("an old state")
	tab.AwaitText("#link", "No connection")
	tab.AwaitText("#nodes", "before") // what is known stays
	s.release(lock)
	s.hold(request{note: "after", claims: []pathlock.Claim{x("/b")}})
	s.start()
	tab.AwaitText("#link", "Live")
	tab.AwaitText("#nodes", "after")
	tab.AwaitGone("#banner")
}

// A bookmark may have a name and a password in it.
func TestAnAddressWithAPassword(t *testing.T) {
	s := newSite(t, memstore.New(), nil)
	s.hold(request{note: "import", claims: []pathlock.Claim{x("/a")}})
	tab := browser.Open(t, strings.Replace(s.url(s.tree), "http://", "http://anna:secret@", 1))
	tab.AwaitText("#link", "Live")
	tab.AwaitText("#nodes", "import")
}

// The server ends its streams from time to time. Nobody notices.
func TestTheStreamIsRenewed(t *testing.T) {
	s := newSite(t, memstore.New(), func(c *admin.Config) { c.StreamFor = 4 * c.Poll })
	tab := s.open()
	for _, note := range []string{"one", "two", "three"} {
		lock := s.hold(request{note: note, claims: []pathlock.Claim{x("/a")}})
		tab.AwaitText("#nodes", note)
		s.release(lock)
		tab.AwaitText("#nodes", "Nobody holds a lock in this tree")
	}
	tab.AwaitGone("#banner")
}

func TestTheStoreIsDown(t *testing.T) {
	s := newSite(t, memstore.New(), nil)
	lock := s.hold(request{note: "import", claims: []pathlock.Claim{x("/a")}})
	tab := s.open()
	tab.AwaitText("#nodes", "import")
	s.locks.down.Store(true)
	tab.AwaitText("#banner", "The lock store does not answer since")
	tab.CheckRules("an old state")
	tab.AwaitText("#nodes", "import")
	// Times stand still: nobody knows whether the lock is held.
	const held = `document.querySelector("#nodes .node-row .cell-for time").innerText`
	before := chromium.Eval[string](tab, held)
	tab.Await("the clock ticks on", fmt.Sprintf("Date.now() > %d", time.Now().Add(2500*time.Millisecond).UnixMilli()))
	if after := chromium.Eval[string](tab, held); after != before {
		t.Errorf("while the store is down, the lock's time goes on from %s to %s", before, after)
	}
	s.release(lock)
	s.locks.down.Store(false)
	tab.AwaitGone("#banner")
	tab.AwaitText("#nodes", "Nobody holds a lock in this tree")
}

// The same while the page polls, and from the first moment.
func TestTheStoreIsDownForAPageThatPolls(t *testing.T) {
	s := newSite(t, memstore.New(), nil)
	s.swallow.Store(true)
	s.locks.down.Store(true)
	s.hold(request{note: "import", claims: []pathlock.Claim{x("/a")}})
	tab := browser.Open(t, s.url(s.tree))
	tab.Allow("503")
	tab.AwaitText("#banner", "The lock store does not answer since")
	s.locks.down.Store(false)
	tab.AwaitGone("#banner")
	tab.AwaitText("#nodes", "import")
}

// An ended session, and a right that is withdrawn, are said once; the page asks no more.
func TestTheSessionEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		end    func(s *site)
		status string
		says   string
	}{
		{"nobody is signed in", func(s *site) { s.refuses(admin.ErrUnauthorized) }, "401", "Your session has ended"},
		{"somebody may not look", func(s *site) { s.refuses(errNobody) }, "403", "You may not look at the locks here"},
		{"a proxy wants a sign-in", func(s *site) { s.signIn.Store(true) }, "302", "Your session has ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, memstore.New(), func(config *admin.Config) { config.StreamFor = 20 * config.Poll })
			s.hold(request{note: "import", claims: []pathlock.Claim{x("/a")}})
			tab := s.open()
			tab.AwaitText("#nodes", "import")
			tab.Allow(c.status)
			c.end(s)
			tab.AwaitText("#banner", c.says)
			tab.AwaitText("#nodes", "import")
			// Signed in again, a reload is all that it takes.
			s.refuse.Store(nil)
			s.signIn.Store(false)
			tab.Click("#banner button")
			tab.AwaitText("#link", "Live")
			tab.AwaitGone("#banner")
		})
	}
}
