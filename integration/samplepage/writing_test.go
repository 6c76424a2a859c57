package samplepage

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// What somebody writes and has not saved is there again when they come back to the suite, whatever
// they looked at meanwhile.
func TestWhatIsWrittenWaitsInItsSuite(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a", "b")
	w.here.choose(w.ids["a"])
	w.here.Fill(".add input", "case")
	w.here.Press(chromium.KeyEnter)
	w.here.Click(caseHead)
	w.here.do("edit-case")
	w.here.Fill("textarea", "half a sen")
	w.here.Fill(".add input", "half a na")
	w.here.choose(w.ids["b"])
	w.here.Await("nothing of a is in b", `document.querySelector(".add input").value === "" && !document.querySelector("textarea")`)
	w.here.Fill(".add input", "of b")
	w.here.Click("#language") // all of it is drawn anew
	w.here.Await("the words are Chinese", `document.documentElement.lang.startsWith("zh") && document.querySelector(".add input").value === "of b"`)
	w.here.choose(w.ids["a"])
	w.here.Await("all of it is there again", `document.querySelector(".add input").value === "half a na" && document.querySelector("textarea")?.value === "half a sen"`)
	w.here.Fill("textarea", "a whole sentence")
	w.here.Click(".case-open .primary")
	w.there.choose(w.ids["a"])
	w.there.AwaitText(".case-list", "a whole sentence")
	w.here.choose(w.ids["b"])
	w.here.Await("that of b, too", `document.querySelector(".add input").value === "of b"`)
	w.here.do("edit") // the lock on a ends with it
	w.here.locked(w.ids["b"], "mine", "正在编辑")
	w.here.do("done")
	w.here.free(w.ids["b"])
}

// Somebody deletes the suite, or the case, that another one writes in. The text is not lost, and
// what is typed next goes nowhere else.
func TestWhatIsWrittenOutlivesItsSuite(t *testing.T) {
	a := alone(t)
	w := bench(t, a, a, "a/b/c", "d")
	w.here.choose(w.ids["a/b/c"])
	w.here.Fill(".add input", "half a name")
	ask[object](a, "DELETE", fmt.Sprintf("/api/suites/%d", w.ids["a/b/c"]), nil)
	w.here.refused("Somebody has deleted “c”")
	w.here.refused("half a name")
	w.here.Await("the nearest suite that is left is chosen", fmt.Sprintf(`document.querySelector(%q).ariaSelected === "true"`, row(w.ids["a/b"])))
	w.here.Await("its fields are empty", `document.querySelector(".add input").value === ""`)
	w.here.Await("keys do nothing to it", `document.activeElement === document.body`)

	// A case, whose writer has lost the edit lock.
	c := ask[struct{ ID int64 }](a, "POST", fmt.Sprintf("/api/suites/%d/cases", w.ids["d"]), object{"name": "case"})
	w.here.choose(w.ids["d"])
	w.here.Click(caseHead)
	w.here.overhear()
	w.here.do("edit-case")
	w.here.Fill("textarea", "steps that nobody has saved")
	token := w.here.token()
	if status, text := a.try("DELETE", fmt.Sprintf("/api/cases/%d", c.ID), nil, token); status != 204 {
		t.Fatalf("%d %s", status, text)
	}
	w.here.refused("steps that nobody has saved")
	w.here.do("done")
	w.here.free(w.ids["d"])
	// And all of the plan.
	w.here.Fill(".add input", "of a plan")
	p, _ := a.planOf("other")
	ask[object](a, "DELETE", fmt.Sprintf("/api/plans/%d", w.plan.ID), nil)
	w.here.refused("Somebody has deleted this plan.")
	w.here.refused("of a plan")
	w.plan = p
}
