package samplepage

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// meddle has the window's requests go through a function of JavaScript.
func (w window) meddle(function string) {
	w.T().Helper()
	w.Await("requests are meddled with", fmt.Sprintf(
		`(globalThis.fetch = (fetch => (path, options) => (%s)(fetch, path, options))(fetch), true)`, function))
}

// Where nothing comes through, the window says so, and shows nothing as done that is not. It
// catches up by itself when the network is back.
func TestNetwork_hangs(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a", "b")
	one := w.here
	ask[object](a, "POST", fmt.Sprintf("/api/suites/%d/cases", w.ids["b"]), object{"name": "a case", "body": ""})
	one.meddle(`(fetch, path, options) => globalThis.hangs
		? new Promise((_, fail) => options.signal.addEventListener("abort", () => fail(options.signal.reason))) : fetch(path, options)`)
	one.choose(w.ids["a"])
	one.AwaitText(".lock-card", "Nobody is editing here")
	one.Await("the network hangs", `(globalThis.hangs = true)`)
	one.do("rename")
	one.Press("c" + chromium.KeyEnter)
	one.shows(w.ids["a"], "a")
	one.AwaitText("#detail h1", "a")
	one.choose(w.ids["b"])
	one.AwaitText(".cases", "could not be read")
	one.state("away")
	one.AwaitText("#banner", "The server does not answer. What you see is as of")
	one.AwaitText(".lock-card", "Nobody knows who is editing here")
	one.refused("No answer came")
	one.shows(w.ids["a"], "a")
	ask[suite](a, "PATCH", fmt.Sprintf("/api/suites/%d", w.ids["b"]), object{"name": "meanwhile"})
	one.Await("the network is back", `!(globalThis.hangs = false)`)
	one.state("live")
	one.AwaitGone("#banner")
	one.shows(w.ids["b"], "meanwhile")
	one.AwaitText(".case-list", "a case")
	one.AwaitText(".lock-card", "Nobody is editing here")
	one.card("Try again")
	one.shows(w.ids["a"], "c")
	one.AwaitGone(".notice.bad")
}

// What takes long says so, while the answer is due.
func TestWrite_TakesLong(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a")
	one := w.here
	one.meddle(`async (fetch, path, options) => {
		if (options.method === "PATCH") await new Promise((go) => { globalThis.go = go; });
		return fetch(path, options);
	}`)
	one.choose(w.ids["a"])
	one.do("rename")
	one.answer("b")
	one.AwaitText(".notice.wait", "Rename “a” to “b”")
	one.AwaitText(".notice.wait", "No answer yet…")
	one.Await("the answer comes", `(globalThis.go(), true)`)
	one.shows(w.ids["a"], "b")
	one.AwaitGone(".notice.wait")
}

// Where the server answers, and what has changed does not come, the window is not live.
func TestTree_HangsAlone(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a", "b")
	one := w.here
	c := ask[struct{ ID int64 }](a, "POST", fmt.Sprintf("/api/suites/%d/cases", w.ids["a"]), object{"name": "case", "body": "as it was"})
	one.choose(w.ids["a"])
	one.AwaitText(".case-list", "as it was")
	one.meddle(`async (fetch, path, options) => {
		if (/tree$/.test(path)) await globalThis.tree;
		if (/cases$/.test(path) && globalThis.lost) throw new TypeError("lost");
		return fetch(path, options);
	}`)
	one.Await("the tree hangs, and cases are lost", `(globalThis.tree = new Promise((go) => { globalThis.go = go; }), globalThis.lost = true)`)
	ask[suite](a, "PATCH", fmt.Sprintf("/api/suites/%d", w.ids["b"]), object{"name": "c"})
	ask[object](a, "PATCH", fmt.Sprintf("/api/cases/%d", c.ID), object{"body": "as it is"})
	one.state("behind")
	one.AwaitText("#banner", "has not come yet. What you see is as of")
	one.AwaitText(".cases", "could not be read again")
	one.Await("they come", `(globalThis.lost = false, globalThis.go(), true)`)
	one.shows(w.ids["b"], "c")
	one.state("live")
	one.AwaitGone("#banner")
	one.AwaitText(".case-list", "as it is")
}

// An answer that comes slowly comes: only silence ends a request.
func TestTree_ComesSlowly(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a")
	w.here.meddle(`async (fetch, path, options) => {
		const answer = await fetch(path, options);
		if (!/tree$/.test(path)) return answer;
		const bytes = new Uint8Array(await answer.arrayBuffer()), parts = 6;
		return new Response(new ReadableStream({
			start(line) {
				let part = 0;
				const clock = setInterval(() => {
					line.enqueue(bytes.slice(part * bytes.length / parts, ++part * bytes.length / parts));
					if (part === parts) { clearInterval(clock); line.close(); }
				}, 2000);
				options.signal.addEventListener("abort", () => { clearInterval(clock); line.error(options.signal.reason); });
			},
		}));
	}`)
	ask[suite](a, "PATCH", fmt.Sprintf("/api/suites/%d", w.ids["a"]), object{"name": "名字"})
	w.here.shows(w.ids["a"], "名字")
}

// state waits until the window's connection is in a state.
func (w window) state(state string) {
	w.T().Helper()
	w.Await("the connection is "+state, fmt.Sprintf(`document.querySelector("#live").dataset.state === %q`, state))
}
