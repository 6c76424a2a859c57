package gormplugintest

import (
	"fmt"
	"regexp"

	"gorm.io/gorm"
)

// longList is a list of more values than an index is sure to be used for, by their placeholders.
var longList = regexp.MustCompile(`\w+"? IN \(\$\d+(,\$\d+){20}`)

// portionChecks are about statements that hit very many rows: none that the driver is given grows
// with them.
func portionChecks() []check {
	var checks []check
	for _, c := range []struct {
		name string
		// rows is called with the parent of n new rows, write changes them all.
		rows  func(w *world, parent *Suite, n int)
		write func(db *gorm.DB, parent, other *Suite) *gorm.DB
	}{
		{"leaves deleted", caseRows, func(db *gorm.DB, parent, _ *Suite) *gorm.DB {
			return db.Where("suite_id = ?", parent.ID).Delete(&Case{})
		}},
		{"leaves moved", caseRows, func(db *gorm.DB, parent, other *Suite) *gorm.DB {
			return db.Model(&Case{}).Where("suite_id = ?", parent.ID).Update("suite_id", other.ID)
		}},
		{"rows deleted", suiteRows, func(db *gorm.DB, parent, _ *Suite) *gorm.DB {
			return db.Where("parent_id = ?", parent.ID).Delete(&Suite{})
		}},
		{"rows moved", suiteRows, func(db *gorm.DB, parent, other *Suite) *gorm.DB {
			return db.Model(&Suite{}).Where("parent_id = ?", parent.ID).Update("parent_id", other.ID)
		}},
		{"rows saved where they are", suiteRows, func(db *gorm.DB, parent, _ *Suite) *gorm.DB {
			return db.Model(&Suite{}).Where("parent_id = ?", parent.ID).Updates(map[string]any{"parent_id": parent.ID, "note": "saved"})
		}},
	} {
		checks = append(checks, check{c.name, func(w *world) {
			// Both are more than one portion, and neither fills its last one.
			longest := make(map[int]int)
			for _, n := range []int{1001, 1600} {
				parent, other := w.suite(w.root, fmt.Sprint("from", n)), w.suite(w.root, fmt.Sprint("to", n))
				c.rows(w, parent, n)
				w.trace.reset()
				w.hits(c.write(w.db, parent, other), int64(n))
				for _, s := range w.trace.ran() {
					longest[n] = max(longest[n], len(s))
					if list := longList.FindString(s); list != "" && w.db.Name() == "postgres" {
						w.Errorf("a planner without statistics compares each row of the table with each value of %s…", list)
					}
				}
			}
			if longest[1001] != longest[1600] {
				w.Errorf("the longest statement has %d bytes for 1001 rows and %d for 1600", longest[1001], longest[1600])
			}
		}})
	}
	return checks
}

// caseRows and suiteRows make n rows below a parent.
func caseRows(w *world, parent *Suite, n int) {
	w.Helper()
	rows := make([]*Case, n)
	for i := range rows {
		rows[i] = &Case{SuiteID: parent.ID, Name: fmt.Sprint(i)}
	}
	w.must(w.db.CreateInBatches(rows, 400).Error)
}

func suiteRows(w *world, parent *Suite, n int) {
	w.Helper()
	rows := make([]*Suite, n)
	for i := range rows {
		rows[i] = &Suite{ParentID: &parent.ID, Name: fmt.Sprint(i)}
	}
	w.must(w.db.CreateInBatches(rows, 400).Error)
}
