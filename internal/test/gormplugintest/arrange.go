package gormplugintest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/lockspec"
)

// checkArrangements has two people sort one tree in opposite ways at once, while a third one puts
// rows into it. What is left is what one of them sent, whole, and nobody's row is lost.
func checkArrangements(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	const rows, rounds = 6, 8
	ids := []int64{w.root.ID}
	for i := range rows {
		ids = append(ids, w.suite(w.root, fmt.Sprint("row", i)).ID)
	}
	var all sync.WaitGroup
	for person := range 2 {
		all.Go(func() {
			for range rounds {
				chain := make([]Suite, rows)
				for at := range chain {
					i := at
					if person == 1 {
						i = rows - 1 - at
					}
					chain[at] = Suite{ID: ids[1+i], ParentID: &ids[0], Note: fmt.Sprint(person)}
					if at > 0 {
						chain[at].ParentID = &chain[at-1].ID
					}
				}
				testerr.None(t, gormplugin.Arrange(w.db, chain, "note"))
			}
		})
	}
	all.Go(func() {
		for i := range rounds * 2 {
			testerr.None(t, w.db.Create(&Suite{ParentID: &ids[1+i%rows], Name: fmt.Sprint("new", i)}).Error)
		}
	})
	all.Wait()
	w.sound()
	var found []Suite
	w.must(w.db.Where("plan_id = ?", w.root.PlanID).Find(&found).Error)
	if len(found) != 1+rows+rounds*2 {
		t.Errorf("there are %d rows", len(found))
	}
	byID := make(map[int64]Suite)
	for _, s := range found {
		byID[s.ID] = s
	}
	for i := range rows {
		above, last := ids[i], byID[ids[1]].Note
		if last == "1" {
			above = append(ids, ids[0])[i+2]
		}
		if s := byID[ids[1+i]]; s.Note != last || *s.ParentID != above {
			t.Errorf("row %d is below %d, of %s; the first row is of %s", s.ID, *s.ParentID, s.Note, last)
		}
	}
}

// checkExchange has two rows exchange more children of the same names than a statement writes, and
// more subtrees than one rewrites, in a request that holds the whole tree.
func checkExchange(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	const children = 300
	a, b := w.suite(w.root, "a"), w.suite(w.root, "b")
	var rows, below []*Suite
	for _, parent := range []*Suite{a, b} {
		for i := range children {
			rows = append(rows, &Suite{ParentID: &parent.ID, Name: fmt.Sprint(i)})
		}
	}
	w.must(w.db.CreateInBatches(rows, 400).Error)
	for i, row := range rows[:children+children/2] {
		below = append(below, &Suite{ParentID: &row.ID, Name: fmt.Sprint("below ", i)})
	}
	w.must(w.db.CreateInBatches(below, 400).Error)
	for i, row := range rows {
		row.Note = row.Path
		if row.ParentID = &b.ID; i >= children {
			row.ParentID = &a.ID
		}
	}
	slices.Reverse(rows)
	w.handledBy(lockspec.Gate(lockspec.Param("id")), w.root, func(c *gin.Context) {
		w.trace.reset()
		w.must(gormplugin.Arrange(w.db.WithContext(c), rows, "note"))
		if events := w.trace.String(); events != "begin commit" && events != "grant begin commit release" {
			t.Errorf("events: %s", events)
		}
	})
	w.sound()
	var found []Suite
	w.must(w.db.Where("plan_id = ? AND note <> ''", w.root.PlanID).Find(&found).Error)
	for _, s := range found {
		if s.Path[2:] != s.Note[2:] || s.Path[1] == s.Note[1] || s.Version != 1 {
			t.Fatalf("%+v", s)
		}
	}
	if len(found) != 2*children {
		t.Errorf("%d rows", len(found))
	}
}
