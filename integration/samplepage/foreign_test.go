package samplepage

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// What people write turns none of the page's own words around, and none of it is unseen.
func TestTextOfOthersKeepsItsPlace(t *testing.T) {
	a := alone(t, "--wait", "100ms")
	const turned, unseen, hebrew = "\u202Egnirts", "\u200B\u2060", "שלום"
	w := bench(t, a, a, turned, unseen, hebrew)
	w.here.known(turned)
	w.here.shows(w.ids[turned], "[U+202E]gnirts")
	w.here.shows(w.ids[unseen], "[U+200B][U+2060]")
	w.here.choose(w.ids[unseen])
	w.here.AwaitText("#detail h1", "[U+200B][U+2060]")
	ask[object](a, "POST", fmt.Sprintf("/api/suites/%d/cases", w.ids[turned]), object{"name": turned, "body": turned})
	w.here.choose(w.ids[turned])
	w.here.AwaitText(".case-name", "[U+202E]gnirts")
	w.here.do("edit")
	w.there.locked(w.ids[turned], "theirs", "[U+202E]gnirts is editing")
	w.there.Allow("423")
	w.there.choose(w.ids[turned])
	w.there.do("remove")
	w.there.refused("Delete “[U+202E]gnirts”")
	w.there.Await("names in a sentence have a direction of their own", `[...document.querySelectorAll(".notice.bad strong bdi, .notice.bad p bdi")].length >= 3`)
	w.there.choose(w.ids[hebrew])
	w.there.do("move")
	w.there.AwaitText("dialog", "/[U+202E]gnirts")
	for _, one := range []window{w.here, w.there} {
		turns := chromium.Eval[[]string](one.Tab, `(() => {
			const all = [document.title, document.body.innerText, ...[...document.querySelectorAll("*")].flatMap(e => ["title", "aria-label"].map(name => e.getAttribute(name) ?? ""))];
			return all.filter(text => /[\u202a-\u202e\u200b\u2060]/.test(text));
		})()`)
		if len(turns) > 0 {
			t.Errorf("the page shows %q", turns)
		}
	}
	w.there.Press(chromium.KeyEscape)
	w.here.do("done")
	w.here.free(w.ids[turned])
	// The name itself is as it was.
	w.here.do("rename")
	w.here.Await("the field has the name", fmt.Sprintf(`document.querySelector("#detail h1 input").value === %s`, chromium.Quote(turned)))
	w.here.Press(chromium.KeyEscape)
}
