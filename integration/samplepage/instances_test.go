package samplepage

import (
	"fmt"
	"testing"
)

// On two instances, two windows see each other's changes and locks, and wait for each other.
func TestWindowsOnTwoInstances(t *testing.T) {
	here, there := two(t)
	t.Run("changes", func(t *testing.T) {
		w := bench(t, here.in(t), there.in(t), "a/b", "c", "d")
		w.here.choose(w.ids["a/b"])
		w.here.do("move")
		w.here.answer("/c")
		w.there.lists(planName(w), "a", "c", "b", "d")
		w.here.choose(w.ids["d"])
		ask[object](there.in(t), "POST", fmt.Sprintf("/api/suites/%d/cases", w.ids["d"]), object{"name": "a case"})
		w.here.AwaitText(".case-list", "a case")
		// Under an edit lock, nothing is asked of the lock store: the change shows all the
		// same.
		w.here.do("edit")
		w.there.locked(w.ids["d"], "theirs", "Anna is editing")
		w.here.do("rename")
		w.here.Press("under the lock\r")
		w.there.shows(w.ids["d"], "under the lock")
		ask[object](here.in(t), "DELETE", fmt.Sprintf("/api/suites/%d", w.ids["a"]), nil)
		w.there.AwaitGone(row(w.ids["a"]))
		w.here.do("done")
		w.there.free(w.ids["d"])
	})
	t.Run("refused", func(t *testing.T) { refusedAndRetried(bench(t, here.in(t), there.in(t), "a/b", "c")) })
	t.Run("waits", func(t *testing.T) { waitsItsTurn(bench(t, here.in(t), there.in(t), "a/b", "c")) })
}
