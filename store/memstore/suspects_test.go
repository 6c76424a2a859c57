package memstore

import (
	"fmt"
	"testing"
)

// Who gives up among hundreds who pass somebody costs a look at those who waited through it, and at
// those for whom it waited, and not a search on behalf of each of the others.
func TestWhoGivesUpHasNobodyElseJudgedAnew(t *testing.T) {
	const crowd = 20
	s := newPassers(t, crowd)
	table := s.store.use(s.tree)
	defer s.store.unuse(table)
	for _, owner := range []string{"holder", "other"} {
		giveUp := s.queue(owner, "/hot")
		before := table.stamp
		giveUp()
		if err := table.audit(); err != nil {
			t.Fatal(err)
		}
		if searches := table.stamp - before; searches > 2 {
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
			s := newStand(t)
			s.take("hot", "/hot")
			for i := range crowd {
				s.take(fmt.Sprint(i), fmt.Sprintf("/own%d", i))
			}
			giveUp := s.queue("root", "/")
			if behind {
				s.queue("behind", "/hot")
			}
			for i := range crowd {
				s.queue(fmt.Sprint(i), "/hot")
			}
			table := s.store.use(s.tree)
			defer s.store.unuse(table)
			before := table.stamp
			giveUp()
			if err := table.audit(); err != nil {
				t.Fatal(err)
			}
			if searches := table.stamp - before; behind != (searches > 1) {
				t.Errorf("%d searches", searches)
			}
			for r := range table.conversions {
				if len(r.passed) > 0 {
					t.Errorf("%s passes somebody", r.owner.id)
				}
			}
		})
	}
}
