package locktable

import (
	"fmt"
	"testing"
)

// newPassers returns a desk where holders wait for one node and pass somebody who waits for all of
// them. One more holds something and waits for nothing.
func newPassers(t *testing.T, crowd int) *desk {
	d := newDesk(t)
	d.take("hot", x("/hot")...)
	d.take("holder", x("/own")...)
	for i := range crowd {
		d.take(fmt.Sprint(i), own(i)...)
	}
	d.queue("root", x("/")...)
	for i := range crowd {
		d.queue(fmt.Sprint(i), x("/hot")...)
	}
	return d
}

// Who gives up among hundreds who pass somebody costs a look at those who waited through it, and at
// those for whom it waited, and not a search on behalf of each of the others.
func TestWhoGivesUpHasNobodyElseJudgedAnew(t *testing.T) {
	const crowd = 20
	d := newPassers(t, crowd)
	for _, owner := range []string{"holder", "other"} {
		r := d.queue(owner, x("/hot")...)
		before := d.stamp
		d.GiveUp(r)
		searches := d.stamp - before
		d.audited()
		if searches > 2 {
			t.Errorf("%d searches after the request of %q has gone, want at most 2", searches, owner)
		}
	}
}

// Those who passed a waiter that gives up are not judged anew on its account, unless they passed
// others that were behind it.
func TestWhoIsPassedByManyGivesUp(t *testing.T) {
	const crowd = 20
	for _, behind := range []bool{false, true} {
		t.Run(fmt.Sprint("others behind it: ", behind), func(t *testing.T) {
			d := newDesk(t)
			d.take("hot", x("/hot")...)
			for i := range crowd {
				d.take(fmt.Sprint(i), own(i)...)
			}
			root := d.queue("root", x("/")...)
			if behind {
				d.queue("behind", x("/hot")...)
			}
			for i := range crowd {
				d.queue(fmt.Sprint(i), x("/hot")...)
			}
			before := d.stamp
			d.GiveUp(root)
			searches := d.stamp - before
			d.audited()
			if behind != (searches > 1) {
				t.Errorf("%d searches", searches)
			}
			for r := range d.conversions {
				if len(r.passed) > 0 {
					t.Errorf("%s passes somebody", r.owner.id)
				}
			}
		})
	}
}
