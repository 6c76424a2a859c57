package locktable

import (
	"fmt"
	"slices"
	"testing"
)

// Of 500 who queue for one node each is watched by one at most, so that a release looks at the next
// one alone: 500 hand-overs, not 500 x 500.
func TestQueueForOneNodeIsAChain(t *testing.T) {
	const crowd = 500
	d := newDesk(t)
	d.take("holder", x("/a/b")...)
	for i := range crowd {
		d.queue(fmt.Sprint(i), x("/a/b")...)
	}
	requests, waiting := d.allRequests()
	if len(waiting) != crowd {
		t.Errorf("%d wait, want %d", len(waiting), crowd)
	}
	for r := range requests {
		if watched := len(slices.Collect(r.watchers)); watched > 1 {
			t.Errorf("request %s is watched by %d", r.owner.id, watched)
		}
	}
}
