package samplepage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// caseHead is the selector of the first case's line.
const caseHead = ".case-list li:nth-child(1) .case-head"

func TestCasesAreWritten(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a", "b")
	w.here.choose(w.ids["a"])
	w.there.choose(w.ids["a"])
	w.here.Fill(".add input", "wrong password")
	w.here.Press(chromium.KeyEnter)
	w.there.AwaitText(".case-list", "wrong password")
	w.here.Click(caseHead)
	w.here.do("edit-case")
	// Writing takes the suite's edit lock, so that nobody overwrites it.
	w.there.locked(w.ids["a"], "theirs", "Anna is editing")
	w.here.Fill("textarea", "1. open the page")
	w.here.Click("dialog .primary")
	w.there.AwaitText(".case-list", "1. open the page")
	w.here.AwaitGone("textarea")
	w.here.do("done")
	w.there.free(w.ids["a"])

	w.there.Click(caseHead)
	w.there.AwaitText(".case-body", "1. open the page")
	w.there.do("copy-case")
	w.there.Fill(`dialog input[type="search"]`, "/b")
	w.there.Press(chromium.KeyEnter)
	w.here.choose(w.ids["b"])
	w.here.AwaitText(".case-list", "wrong password 2")
	w.here.Click(caseHead)
	w.here.do("move-case")
	w.here.answer("/a")
	w.there.Await("both cases are in a", `document.querySelectorAll(".case-list li").length === 2`)
	w.here.AwaitText(".cases", "No cases in this suite.")
	w.there.do("remove-case")
	w.there.Await("one case is left", `document.querySelectorAll(".case-list li").length === 1`)
	w.there.card("Undo")
	w.there.Await("both cases are in a again", `document.querySelectorAll(".case-list li").length === 2`)
	cases := ask[struct{ Cases []struct{ Name, Body string } }](a, "GET", fmt.Sprintf("/api/suites/%d/cases", w.ids["a"]), nil).Cases
	if len(cases) != 2 || cases[0].Body != "1. open the page" || cases[1].Body != "1. open the page" {
		t.Errorf("the cases are %v", cases)
	}
}

// What somebody is writing survives what others change, though it be the suite that they delete,
// and no slip of a key or of the pointer ends it.
func TestDraft_survivesWhatOthersChange(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a", "b")
	w.here.choose(w.ids["a"])
	w.here.Fill(".add input", "draft")
	w.here.Press(chromium.KeyEnter)
	w.here.Click(caseHead)
	w.here.overhear()
	w.here.do("edit-case")
	w.here.Await("the text has the focus", `document.activeElement.tagName === "TEXTAREA"`)
	w.here.Press("half a sen")
	ask[suite](a, "PATCH", fmt.Sprintf("/api/suites/%d", w.ids["b"]), object{"name": "elsewhere"})
	w.here.shows(w.ids["b"], "elsewhere")
	w.here.Press("tence")
	w.here.Await("the text and the focus stay", `document.activeElement.tagName === "TEXTAREA" && document.activeElement.value === "half a sentence"`)
	w.here.Press(chromium.KeyEscape + chromium.KeyEscape)
	w.here.Allow("404")
	token := w.here.token()
	if status, text := a.try("DELETE", fmt.Sprintf("/api/suites/%d", w.ids["a"]), nil, token); status != 204 {
		t.Fatalf("%d %s", status, text)
	}
	w.here.refused("Somebody has deleted “a”")
	w.here.Await("the text is still there", `document.querySelector("textarea").value === "half a sentence"`)
	w.here.Click("dialog .primary")
	w.here.refused("It is gone: somebody has deleted it.")
	w.here.Click("dialog[open] .dialog-head button")
	w.here.AwaitGone("dialog")
}

// A name of the longest length is not cut, and a hint that does not say all shows that.
func TestCases_WhatIsCutSaysSo(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a")
	name := strings.Repeat("🌳", 255)
	w.here.choose(w.ids["a"])
	for _, body := range []string{"one line", "first line\nsecond line"} {
		ask[object](a, "POST", fmt.Sprintf("/api/suites/%d/cases", w.ids["a"]), object{"name": body[:5], "body": body})
	}
	w.here.Await("the hints say so", `JSON.stringify([...document.querySelectorAll(".case-hint")].map(e => e.textContent)) === '["first line…","one line"]'`)
	w.here.do("rename")
	w.here.Await("the name is typed", fmt.Sprintf(`(document.execCommand("insertText", false, %s), true)`, chromium.Quote(name)))
	w.here.Press(chromium.KeyEnter)
	w.there.shows(w.ids["a"], name)
}

// Names are text, whatever they look like.
func TestNames_areText(t *testing.T) {
	a := alone(t)
	hostile := []string{
		`<img src=x onerror=alert(1)>`, `"><script>alert(2)<`, `javascript:alert(3)`, `{{constructor}}`,
		`&lt;b&gt;`, strings.Repeat("很长的名称", 51),
	}
	w := bench(t, a, a, hostile...)
	w.here.known(hostile[0])
	for i, name := range hostile {
		id := w.ids[name]
		w.there.shows(id, name)
		w.here.choose(id)
		w.here.Await("the title is the name", fmt.Sprintf(`document.querySelector("#detail h1").textContent === %s`, chromium.Quote(name)))
		ask[object](a, "POST", fmt.Sprintf("/api/suites/%d/cases", id), object{"name": name, "body": name})
		w.here.Await("the case has the name", fmt.Sprintf(`document.querySelector(".case-name")?.textContent === %s`, chromium.Quote(name)))
		if i == 0 {
			// The note of the lock, and a refusal that quotes all of it.
			w.here.do("edit")
			w.there.locked(id, "theirs", "<img src=x onerror=alert(1)>"[:5])
			w.there.choose(id)
			w.there.Allow("423")
			w.there.do("rename")
			w.there.Press("x" + chromium.KeyEnter)
			w.there.refused(name)
			w.here.do("done")
			w.here.free(id)
		}
	}
	if n := w.here.Count("#tree img, main script, main b") + w.there.Count("main img, #notices img"); n != 0 {
		t.Errorf("names became %d elements", n)
	}
}
