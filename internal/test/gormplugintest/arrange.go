package gormplugintest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
)

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
