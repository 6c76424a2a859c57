package samplepage

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// A plan of ten thousand suites has elements for those in sight only, and stays usable.
func TestAPlanOfTenThousandSuites(t *testing.T) {
	a := alone(t)
	var paths []string
	for i := range 100 {
		for j := range 99 {
			paths = append(paths, fmt.Sprintf("area %02d/part %02d", i, j))
		}
	}
	w := bench(t, a, a, paths...)
	one := w.here
	one.AwaitText("#tree-foot", "10000 suites")
	one.Await("the tree takes the focus", `(document.querySelector("#tree").focus(), document.activeElement.id === "tree")`)
	one.Press(chromium.KeyHome + chromium.KeyArrowDown + "*") // opens all areas
	one.Await("all rows have their room", `document.querySelector(".rows").clientHeight >= 10001 * 30`)
	few := func() {
		t.Helper()
		if n := one.Count("#tree .row"); n > 80 {
			t.Errorf("%d rows have elements", n)
		}
	}
	few()
	one.Press(chromium.KeyEnd)
	one.shows(w.ids["area 99/part 98"], "part 98")
	few()
	ask[suite](a, "PATCH", fmt.Sprintf("/api/suites/%d", w.ids["area 99/part 98"]), object{"name": "zzz"})
	one.Press(chromium.KeyEnd)
	one.shows(w.ids["area 99/part 98"], "zzz")
	one.Fill("#filter", "part 42")
	one.AwaitText("#tree-foot", "Found 100 of 10000")
	few()
}
