package samplepage

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// The second half of a double click does not hit what the first one has put under the pointer: the
// parent's button, when a suite is deleted.
func TestDoubleClick_DeletesOnce(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a/b/c")
	w.here.choose(w.ids["a/b/c"])
	w.here.ClickTwice("[data-do=remove]", func() {
		w.here.AwaitText("#detail h1", "b")
		w.here.AwaitText(".notice.good", "“c” is in the recycle bin.")
	})
	// A deletion would be under way by the time that this one is done.
	w.here.do("rename")
	w.here.answer("renamed")
	w.there.lists(planName(w), "a", "renamed")
	// Where the answer is due, it is one request.
	w.here.meddle(`async (fetch, path, options) => {
		if (options.method !== "DELETE") return fetch(path, options);
		globalThis.deletions = (globalThis.deletions ?? 0) + 1;
		await new Promise((go) => { globalThis.go = go; });
		return fetch(path, options);
	}`)
	w.here.ClickTwice("[data-do=remove]", func() { w.here.Await("the answer is due", `globalThis.go`) })
	w.here.Await("the answer comes", `(globalThis.go(), true)`)
	w.there.lists(planName(w), "a")
	w.here.AwaitText("#detail h1", "a")
	if n := chromium.Eval[int](w.here.Tab, `globalThis.deletions`); n != 1 || w.here.Count(".notice.bad") != 0 {
		t.Errorf("%d requests, %d refusals", n, w.here.Count(".notice.bad"))
	}
}

// A refusal stays until its own action is done: another one of the same title, on another suite,
// does not take it away.
func TestRefusal_StaysBesideOneOfTheSameTitle(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a/x", "b/x")
	w.there.choose(w.ids["a/x"])
	w.there.do("edit")
	w.here.locked(w.ids["a/x"], "theirs", "Ben is editing")
	w.here.Allow("423")
	rename := func(path string) {
		w.here.choose(w.ids[path])
		w.here.do("rename")
		w.here.answer("y")
	}
	rename("a/x")
	w.here.refused("Rename “x” to “y”")
	rename("b/x")
	w.here.shows(w.ids["b/x"], "y")
	w.here.AwaitText(".notice.good", "“y” is its name now.")
	w.here.refused("Rename “x” to “y”")
	w.there.do("done")
	w.here.free(w.ids["a/x"])
	w.here.card("Try again")
	w.here.shows(w.ids["a/x"], "y")
	w.here.AwaitGone(".notice.bad")
}

// What is made, changed or deleted, and whose answer was lost, is asked for again with its key, and
// is nobody else's work. Every other request has a key of its own.
func TestWrite_AnswerLost(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a", "b")
	w.here.meddle(`async (fetch, path, options) => {
		const answer = await fetch(path, options);
		if (!["POST", "PATCH", "DELETE"].includes(options.method)) return answer;
		const key = options.headers["Idempotency-Key"], seen = (globalThis.keys ??= []).includes(key);
		keys.push(key);
		if (!seen) throw new TypeError("lost");
		return answer;
	}`)
	w.here.choose(w.ids["a"])
	w.here.Click("#new-suite")
	w.here.answer("once")
	w.here.refused("No answer came")
	w.here.card("Try again")
	w.here.AwaitText("#detail h1", "once")
	w.here.AwaitGone(".notice.bad")
	w.here.choose(w.ids["a"])
	w.here.do("rename")
	w.here.answer("mine")
	w.here.refused("No answer came")
	ask[suite](a, "PATCH", fmt.Sprintf("/api/suites/%d", w.ids["a"]), object{"name": "theirs"})
	w.here.shows(w.ids["a"], "theirs")
	w.here.card("Try again")
	w.here.AwaitGone(".notice.bad")
	w.here.shows(w.ids["a"], "theirs") // what was done before is not done again
	w.here.choose(w.ids["b"])
	w.here.do("remove")
	w.here.refused("No answer came")
	w.here.card("Try again")
	w.here.AwaitText(".notice.good", "“b” is in the recycle bin.")
	w.here.AwaitGone(".notice.bad")
	keys := chromium.Eval[[]string](w.here.Tab, "keys")
	if len(keys) != 6 || keys[0] != keys[1] || keys[2] != keys[3] || keys[4] != keys[5] || len(slices.Compact(keys)) != 3 || keys[0] == "" {
		t.Errorf("the keys are %q", keys)
	}
}

// What is tried again goes to the plan that it was meant for, whichever is shown by then. Nor does
// a window that shows another plan take the suites of the one before for deleted.
func TestWrite_TriedAgainFromAnotherPlan(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a")
	other, _ := a.planOf("b")
	w.there.do("edit") // the root
	w.there.locked(w.plan.RootID, "mine", "You are editing")
	w.here.Allow("423")
	w.here.Click("#new-suite")
	w.here.answer("new")
	w.here.refused("Ben is editing")
	w.here.Await("another plan is asked for", fmt.Sprintf(`(location.hash = "#plan/%d")`, other.ID))
	w.here.AwaitShown(row(other.RootID))
	w.there.do("done")
	w.there.free(w.plan.RootID)
	w.here.card("Try again")
	w.there.lists(planName(&workbench{here: w.there}), "a", "new")
	w.here.AwaitGone(".notice.bad")
	w.here.Await("the other plan is shown", fmt.Sprintf(`location.hash.startsWith("#plan/%d/")`, other.ID))
}

// A window whose lock has ended early, and been followed by somebody else's, says so at once.
func TestEditLock_FollowedByAnother(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a")
	lock := fmt.Sprintf("/api/suites/%d/lock", w.ids["a"])
	w.here.choose(w.ids["a"])
	w.here.overhear()
	w.here.Allow("409")
	w.here.do("edit")
	w.here.locked(w.ids["a"], "mine", "You are editing")
	// The window does not look while the one lock follows the other.
	w.here.meddle(`async (fetch, path, options) => {
		if (String(path).endsWith("/locks")) await globalThis.pause;
		return fetch(path, options);
	}`)
	w.here.Await("the window does not look", `(globalThis.pause = new Promise((go) => { globalThis.go = go; }))`)
	if status, text := a.try("DELETE", lock, nil, w.here.token()); status != 204 {
		t.Fatalf("%d %s", status, text)
	}
	ask[object](a, "POST", lock, object{"for": "2m", "note": "Ben is editing"})
	w.here.Await("the window looks", `(globalThis.go(), true)`)
	w.here.refused("Your edit lock has ended")
	w.here.locked(w.ids["a"], "theirs", "Ben is editing")
	w.here.AwaitText(".lock-card", "Ben is editing")
}
