package adminpage

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// The page says that the server or the store is away, keeps what it knows, whose times stand still,
// and goes on by itself when they are back.
func TestConnection_serverAndStoreGoAndCome(t *testing.T) {
	s := newSite(t, nil)
	s.instead.Store(http.StatusServiceUnavailable)
	tab := browser.Open(t, strings.Replace(s.url(s.tree), "http://", "http://anna:secret@", 1)) // a bookmark may have that
	tab.Allow("503")
	tab.Allow("ERR_")
	tab.AwaitText("#banner", "The lock store does not answer")
	lock := s.hold(request{note: "before", claims: x("/a")})
	s.instead.Store(0)
	tab.AwaitText("#others", "before")
	tab.AwaitGone("#banner")
	const held = `document.querySelector("#others time").innerText`
	tab.Await("the lock's time goes on", "parseFloat("+held+".slice(5)) >= 2")

	s.stop()
	tab.AwaitText("#banner", "The server does not answer")
	tab.AwaitText("#link", "No connection")
	tab.AwaitText("#others", "before")
	tidy(t, tab, "an old state")
	since := chromium.Eval[string](tab, held)
	tab.Await("the clock ticks on", fmt.Sprintf("performance.now() > %f", chromium.Eval[float64](tab, "performance.now()")+1500))
	if now := chromium.Eval[string](tab, held); now != since {
		t.Errorf("without the server, the lock's time goes on from %s to %s", since, now)
	}
	s.release(lock)
	s.start()
	tab.AwaitText("#link", "Live")
	tab.AwaitText("#entries", "Nobody holds a lock in this tree.")
	tab.AwaitGone("#banner")
}

// An ended session, and a right that is withdrawn, are said once; the page asks no more.
func TestSession_ends(t *testing.T) {
	s := newSite(t, nil)
	s.hold(request{note: "import", claims: x("/a")})
	tab := s.open()
	tab.Allow("40")
	for status, says := range map[int32]string{
		http.StatusUnauthorized: "Your session has ended", http.StatusForbidden: "You may not look at the locks here", http.StatusFound: "Your session has ended",
	} {
		s.instead.Store(status)
		tab.AwaitText("#banner", says)
		tab.AwaitText("#others", "import")
		s.instead.Store(0)
		tab.Click("#banner button")
		tab.AwaitText("#link", "Live")
	}
}

// For those whom AuthorizeRelease refuses, the page offers no release.
func TestReadOnly(t *testing.T) {
	s := newSite(t, func(c *admin.Config) {
		c.AuthorizeRelease, c.History = func(*http.Request) (string, error) { return "", errors.New("operators only") }, nil
	})
	s.hold(request{note: "import", claims: x("/a")})
	tab := s.open()
	tab.AwaitText("#readonly", "read-only")
	tab.Click("#others summary")
	tab.AwaitText("#others .facts", "Claims")
	if tab.Count(".danger") != 0 {
		t.Error("the page offers a release")
	}
	tab.Click("#view-history")
	tab.AwaitText("#history", "No history is kept here")
}

// What is cut is said: trees beyond those that are listed, also where none of the listed ones
// matches, and waits that were forgotten for later ones.
func TestPage_WhatIsCutSaysSo(t *testing.T) {
	s := newSite(t, func(c *admin.Config) { c.MaxTrees = 1 })
	for i := range 12 {
		s.tree = newTree(t, "testplan", fmt.Sprintf("p%02d", i))
		s.hold(request{note: "import", claims: x("/a")})
	}
	tab := browser.Open(t, s.url(pathlock.Tree{}))
	tab.AwaitText("#trees", "2 more trees are not listed.")
	tab.Fill("#trees-filter", "p11")
	tab.AwaitText("#trees", "Nothing matches.")
	tab.AwaitText("#trees", "2 more trees are not listed.")
	tab.Await("the history has dropped some", `(globalThis.fetch = (fetch => async (...asked) => {
		const answer = await fetch(...asked);
		return String(asked[0]).includes("api/history") ? Response.json({ ...await answer.json(), dropped: 7 }) : answer;
	})(fetch), true)`)
	tab.Click("#view-history")
	tab.AwaitText("#history", "7 earlier ones are not.")
}

// Both languages say the same things about the same values, and all that the page says is there.
func TestWords(t *testing.T) {
	s := newSite(t, nil)
	tab := s.open()
	for _, wrong := range chromium.Eval[[]string](tab, `(async () => {
		const wrong = [], sources = {};
		for (const file of ["words", "dom", "entries", "history", "page", "release"]) sources[file] = await (await fetch("assets/" + file + ".js")).text();
		const values = text => [...text.matchAll(/\{\w+\}/g)].map(m => m[0]).sort().join();
		const words = new Map([...sources.words.matchAll(/^\t"?([\w.-]+)"?: \[(.*)\],$/gm)].map(m => [m[1], JSON.parse("[" + m[2] + "]")]));
		for (const [key, [en, zh]] of words) if (!en || !zh || values(en) !== values(zh)) wrong.push(key + " differs: " + en + " | " + zh);
		for (const [file, source] of Object.entries(sources)) for (const [, key] of source.matchAll(/\bt\("([\w.-]+)"/g)) if (!words.has(key)) wrong.push(file + ".js says " + key);
		return words.size > 90 ? wrong : ["only " + words.size + " words were found"];
	})()`) {
		t.Error(wrong)
	}
}
