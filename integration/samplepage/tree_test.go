package samplepage

import (
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// workbench is two people's windows on a plan.
type workbench struct {
	*app
	here, there window
	plan        plan
	ids         map[string]int64
}

// bench opens windows of two people on a plan with suites: the first one's on one instance, and the
// other's on another, which may be the same, or nil where nobody looks on.
func bench(t *testing.T, a, b *app, paths ...string) *workbench {
	t.Helper()
	p, ids := a.planOf(paths...)
	w := &workbench{app: a, plan: p, ids: ids}
	w.here = open(a, a.address(p)).known("Anna")
	if b != nil {
		w.there = open(b, b.address(p)).known("Ben")
	}
	t.Cleanup(func() { a.sound(w.plan) })
	return w
}

func TestTree_suitesAreChanged(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a/b/c", "d/e")
	w.here.choose(w.ids["d"])
	w.here.Click("#new-suite")
	w.here.answer("f")
	w.there.lists(planName(w), "a", "b", "c", "d", "e", "f")
	w.here.choose(w.ids["d"])
	// A name that cannot be one is refused before it is sent.
	w.here.do("rename")
	w.here.Press("a/b" + chromium.KeyEnter)
	w.here.AwaitText("dialog .wrong", "no slash")
	w.here.answer("g")
	w.there.shows(w.ids["d"], "g")
	w.here.AwaitText("#detail h1", "g")
	w.here.choose(w.ids["a/b"])
	w.here.do("move")
	w.here.answer("/g/e")
	w.there.lists(planName(w), "a", "g", "e", "b", "c", "f")
	w.here.do("copy")
	w.here.Fill(`dialog input[type="text"]`, "a copy")
	w.here.Fill(`dialog input[type="search"]`, "/a")
	w.here.Press(chromium.KeyEnter)
	w.here.lists(planName(w), "a", "a copy", "g", "e", "b", "c", "f")
	w.there.lists(planName(w), "a", "a copy", "g", "e", "b", "c", "f")
}

// planName is the name of the plan, which the root's row shows.
func planName(w *workbench) string {
	return chromium.Eval[string](w.here.Tab, `document.querySelector("#tree [aria-level='1'] .name").textContent`)
}

func TestUndo_bringsBackWhatWasDeleted(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a/b", "c", "d")
	w.here.choose(w.ids["a"])
	w.here.do("remove")
	w.there.lists(planName(w), "c", "d")
	w.here.card("Undo")
	w.there.lists(planName(w), "a", "b", "c", "d")
	w.here.lists(planName(w), "a", "b", "c", "d")
	for _, path := range []string{"c", "d"} {
		w.here.choose(w.ids[path])
		w.here.do("remove")
		w.there.AwaitGone(row(w.ids[path]))
	}
	// The bin of the other window has both, and shows what this one takes out.
	w.there.Click("#bin-button")
	w.there.Await("the bin has two entries", `document.querySelectorAll(".bin-list li").length === 2`)
	w.here.Click("#bin-button")
	w.here.Click(".bin-list li:first-child button")
	w.there.Await("the bin has one entry", `document.querySelectorAll(".bin-list li").length === 1`)
	w.there.Click("dialog .dialog-foot .danger")
	w.there.Click("dialog[aria-label*='for good'] .danger")
	w.here.AwaitText("dialog", "The recycle bin is empty.")
	w.here.Press(chromium.KeyEscape)
	w.there.Press(chromium.KeyEscape)
	w.there.lists(planName(w), "a", "b", "d")
}

// A list of projects that may have been cut says so.
func TestPlans_MoreProjectsThanAreListed(t *testing.T) {
	a := alone(t)
	w := bench(t, a, nil, "a")
	w.here.meddle(`(fetch, path, options) => {
		const project = /projects\/(.+)\/plans$/.exec(path)?.[1];
		if (project) return Response.json({ plans: [{ id: 1, project, name: "plan", root_id: 1 }] });
		if (/projects$/.test(path)) return Response.json({ projects: Array.from({ length: 1000 }, (_, i) => ({ name: "p" + i, plans: 1 })) });
		return fetch(path, options);
	}`)
	w.here.Click("#plan-button")
	w.here.AwaitText(".plan-list", "These are the first 1000 projects.")
}

func TestPlansAreMadeRenamedAndDeleted(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a")
	w.here.Click("#plan-button")
	w.here.do("create-plan")
	w.here.Press("Release 7" + chromium.KeyEnter)
	w.here.AwaitText("#plan-name", "demo / Release 7")
	w.here.lists("Release 7")
	w.here.Click("#plan-button")
	w.here.Click(".plan-line:has([aria-current]) [title='Rename the plan']")
	w.here.Fill("dialog[aria-label='Rename the plan'] input", "Release 8")
	w.here.Press(chromium.KeyEnter)
	w.here.AwaitText(".plan-list", "Release 8")
	// The plan that the other window shows is deleted here.
	w.here.Click(".plan-line:not(:has([aria-current])) .sign-bin")
	w.here.Click("dialog[aria-label*='for good'] .danger")
	w.there.AwaitText("#notices", "Somebody has deleted this plan.")
	w.there.AwaitShown("#welcome")
	w.here.AwaitText("#plan-name", "Release 8")
	w.plan = ask[struct{ Plans []plan }](a, "GET", "/api/projects/demo/plans", nil).Plans[0]
}
