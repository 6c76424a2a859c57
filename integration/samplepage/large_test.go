package samplepage

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// With more locks than the page is told of, a suite without a mark is not said to be free.
func TestLocks_MoreThanAreListed(t *testing.T) {
	a := alone(t)
	var paths []string
	for i := range 502 {
		paths = append(paths, fmt.Sprintf("%03d", i))
	}
	w := bench(t, a, nil, append(paths, "free")...)
	for _, path := range paths[:501] {
		ask[object](a, "POST", fmt.Sprintf("/api/suites/%d/lock", w.ids[path]), object{"for": "10m", "note": "Ben is editing"})
	}
	listed := ask[struct {
		Holders []struct {
			Claims []struct {
				SuiteID int64 `json:"suite_id"`
			}
		}
	}](a, "GET", fmt.Sprintf("/api/plans/%d/locks", w.plan.ID), nil)
	known := map[int64]bool{}
	for _, holder := range listed.Holders {
		known[holder.Claims[0].SuiteID] = true
	}
	hidden := slices.IndexFunc(paths, func(path string) bool { return !known[w.ids[path]] })
	one := w.here
	one.AwaitText("#banner", "more locks in this plan than the 500 that are listed")
	one.Fill("#filter", paths[hidden])
	one.choose(w.ids[paths[hidden]])
	one.AwaitText(".lock-card", "Somebody may be editing here")
	// Nor does the page hammer the server for a lock of its own that is not listed.
	one.Fill("#filter", "free")
	one.choose(w.ids["free"])
	one.meddle(`(fetch, path, options) => {
		globalThis.prolonged = (globalThis.prolonged ?? 0) + (options.method === "PUT");
		globalThis.asked = (globalThis.asked ?? 0) + String(path).endsWith("/locks");
		return fetch(path, options);
	}`)
	one.do("edit")
	one.locked(w.ids["free"], "mine", "You are editing")
	one.Await("it has looked twice", fmt.Sprintf("globalThis.asked >= %d", chromium.Eval[int](one.Tab, "globalThis.asked ?? 0")+2))
	if n := chromium.Eval[int](one.Tab, "globalThis.prolonged"); n > 0 {
		t.Errorf("the lock was prolonged %d times", n)
	}
}

// A plan of ten thousand suites has elements for those in sight only, and stays usable.
func TestTree_ofTenThousandSuites(t *testing.T) {
	a := alone(t)
	var paths []string
	for i := range 100 {
		for j := range 99 {
			paths = append(paths, fmt.Sprintf("area %02d/part %02d", i, j))
		}
	}
	w := bench(t, a, nil, paths...)
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
