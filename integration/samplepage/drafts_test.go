package samplepage

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// draft opens the editor of the only case of suite a.
func (w *workbench) draft() {
	w.Helper()
	ask[object](w.app, "POST", fmt.Sprintf("/api/suites/%d/cases", w.ids["a"]), object{"name": "case", "body": "as it was"})
	w.here.choose(w.ids["a"])
	w.here.Click(caseHead)
	w.here.do("edit-case")
	w.here.AwaitShown("textarea")
}

// body is the body of the only case of suite a.
func (w *workbench) body() string {
	w.Helper()
	return ask[struct{ Cases []struct{ Body string } }](w.app, "GET", fmt.Sprintf("/api/suites/%d/cases", w.ids["a"]), nil).Cases[0].Body
}

// fails has the window's PATCHes of cases get an answer instead of the server's, while
// globalThis.fails is set. The server gets them if reached says so.
func (w window) fails(reached bool, answer string) {
	w.T().Helper()
	w.meddle(fmt.Sprintf(`async (fetch, path, options) => {
		if (options.method !== "PATCH" || !globalThis.fails) return fetch(path, options);
		if (%v) await fetch(path, options);
		%s
	}`, reached, answer))
	w.Await("saving fails", `(globalThis.fails = true)`)
}

// lockedAnswer is the answer of a server on which somebody else is in the way.
const lockedAnswer = `return Response.json({ type: "urn:pathlock:problem:locked", status: 423, path: "/a", holder: { what: "Ben is editing" } }, { status: 423 });`

// A draft whose saving was refused is saved as it is by then, however it is tried again.
func TestDraft_RefusedAndTypedOn(t *testing.T) {
	a := alone(t)
	for again, try := range map[string]func(window){
		"Try again": func(w window) {
			w.Await("saving works", `!(globalThis.fails = false)`)
			w.card("Try again")
		},
		"Wait until it is free": func(w window) {
			w.card("Wait until it is free")
			w.AwaitText(".notice.wait", "Stop waiting")
			// It is free while somebody types: what they type is not cut.
			w.Await("somebody types on", `(globalThis.fails = false, [..." waited"].forEach((key, i) => setTimeout(() => { document.querySelector("textarea").value += key; }, 400 * i)), true)`)
		},
	} {
		t.Run(again, func(t *testing.T) {
			w := bench(t, a.in(t), nil, "a")
			w.draft()
			w.here.fails(false, lockedAnswer)
			w.here.Fill("textarea", "half")
			w.here.Click("dialog .primary")
			w.here.refused("Ben is editing")
			w.here.Click("textarea")
			w.here.Press(chromium.KeyEnd + " whole")
			try(w.here)
			w.here.AwaitGone("dialog")
			want := map[string]string{"Try again": "half whole", "Wait until it is free": "half whole waited"}[again]
			if got := w.body(); got != want {
				t.Errorf("the case says %q, want %q", got, want)
			}
		})
	}
}

// What is typed while the answer is due is not closed over: the dialog stays with it.
func TestDraft_TypedOnWhileItIsSaved(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a")
	w.draft()
	w.here.meddle(`async (fetch, path, options) => {
		if (options.method === "PATCH") await new Promise((go) => { globalThis.go = go; });
		return fetch(path, options);
	}`)
	w.here.Fill("textarea", "half")
	w.here.Click("dialog .primary")
	w.here.Await("the answer is due", `globalThis.go`)
	w.here.Click("textarea")
	w.here.Press(chromium.KeyEnd + " whole")
	w.here.Click("dialog .primary") // once more is not twice
	w.here.Await("the answer comes", `(globalThis.go(), globalThis.go = null, true)`)
	w.here.AwaitText(".notice.good", "Saved.")
	w.here.Await("the text is still there", `document.querySelector("textarea")?.value === "half whole"`)
	w.there.choose(w.ids["a"])
	w.there.AwaitText(".case-list", "half")
	w.here.Click("dialog .primary")
	w.here.Await("the answer is due", `globalThis.go`)
	w.here.Await("the answer comes", `(globalThis.go(), true)`)
	w.here.AwaitGone("dialog")
	if got := w.body(); got != "half whole" {
		t.Errorf("the case says %q", got)
	}
}

// A saving whose answer was lost is not taken for somebody else's work, and does not come late over
// what was typed since: its own answer is asked for first.
func TestDraft_AnswerLost(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a")
	w.draft()
	w.here.fails(true, `(globalThis.sent ??= []).push(options.headers["Idempotency-Key"]); throw new TypeError("lost");`)
	w.here.Fill("textarea", "half")
	w.here.Click("dialog .primary")
	w.here.refused("No answer came")
	w.here.Click("textarea")
	w.here.Press(chromium.KeyEnd + " whole")
	w.here.meddle(`(fetch, path, options) => {
		if (options.method === "PATCH") globalThis.sent.push(options.headers["Idempotency-Key"], JSON.parse(options.body).body);
		return fetch(path, options);
	}`)
	w.here.Await("saving works", `!(globalThis.fails = false)`)
	w.here.card("Try again")
	w.here.AwaitGone("dialog")
	if got := w.body(); got != "half whole" {
		t.Errorf("the case says %q", got)
	}
	sent := chromium.Eval[[]string](w.here.Tab, "globalThis.sent")
	if len(sent) != 5 || sent[0] == "" || sent[1] != sent[0] || sent[2] != "half" || sent[3] == sent[0] || sent[4] != "half whole" {
		t.Errorf("sent were %q", sent)
	}
}

// A draft that somebody throws away is not saved by what they began before.
func TestDraft_ThrownAway(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a")
	w.draft()
	w.here.fails(false, lockedAnswer)
	w.here.Fill("textarea", "half")
	w.here.Click("dialog .primary")
	w.here.card("Wait until it is free")
	w.here.AwaitText(".notice.wait", "Stop waiting")
	w.here.Click("dialog .dialog-foot button")
	w.here.Await("the dialog has gone", `!document.querySelector("dialog")`)
	w.here.AwaitGone(".notice")
}

// A name that was typed stays in its suite until it is sent, and a window with something that is
// not saved asks before it is left.
func TestDraft_NameOfACase(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a", "b")
	asks := func(want bool) {
		t.Helper()
		if got := chromium.Eval[bool](w.here.Tab, `!dispatchEvent(new Event("beforeunload", { cancelable: true }))`); got != want {
			t.Errorf("leaving asks: %v, want %v", got, want)
		}
	}
	w.here.choose(w.ids["a"])
	asks(false)
	w.here.Fill(".add input", "half a na")
	asks(true)
	w.here.choose(w.ids["b"])
	w.here.Await("the field of another suite is empty", `document.querySelector(".add input").value === ""`)
	w.here.choose(w.ids["a"])
	w.here.Click("#language")
	w.here.Await("the name is there", `document.querySelector(".add input").value === "half a na"`)
	w.here.Click("#language")
	w.here.Fill(".add input", "a/b")
	w.here.Press(chromium.KeyEnter)
	w.here.AwaitText(".cases .wrong", "no slash")
	w.here.Fill(".add input", "name")
	w.here.Press(chromium.KeyEnter)
	w.here.AwaitText(".case-list", "name")
	asks(false)
	// One that is taken can be changed.
	w.here.Allow("409")
	w.here.Fill(".add input", "name")
	w.here.Press(chromium.KeyEnter)
	w.here.refused("has that name already")
	asks(true)
	w.here.card("Change it…")
	w.here.AwaitShown("dialog")
	w.here.Press(chromium.KeyEnd + " 2" + chromium.KeyEnter)
	w.here.AwaitText(".case-list", "name 2")
	w.here.AwaitGone(".notice.bad")
	asks(false)
}
