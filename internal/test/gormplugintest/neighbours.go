package gormplugintest

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// checkNeighbours changes subtrees that are most of a table while somebody edits another tree. A
// change locks the subtree, at every isolation level, and not the table; and an insert locks the
// rows above, and no gaps between them.
func checkNeighbours(t *testing.T, d Database) {
	migrate(t, d)
	for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted} {
		w, options := newWorld(t, d, settings{}), &sql.TxOptions{Isolation: level}
		if w.db.Name() != "mysql" {
			t.Skip("its row locks are of rows")
		}
		top, shelf, elsewhere, copied := w.broad("a", 600), w.build("/m"), w.newPlan(), new(Suite)
		w.build("/z") // what comes after a subtree is locked, too
		theirs := &Case{SuiteID: elsewhere.ID, Name: "leaf"}
		w.must(w.db.Create(theirs).Error)
		for _, c := range []struct {
			name   string
			change func(db *gorm.DB) error
		}{
			{"rename", func(db *gorm.DB) error { return gormplugin.Rename(db, &Suite{}, top.ID, "b") }},
			{"move", func(db *gorm.DB) error { return gormplugin.Move(db, &Suite{}, top.ID, gormplugin.Below(shelf.ID)) }},
			{"copy", func(db *gorm.DB) error {
				_, err := gormplugin.Copy(db, copied, top.ID, gormplugin.Below(w.root.ID))
				return err
			}},
			{"delete one of two for good", func(db *gorm.DB) error { _, err := gormplugin.Delete(db.Unscoped(), &Suite{}, copied.ID); return err }},
			{"delete for good", func(db *gorm.DB) error { _, err := gormplugin.Delete(db.Unscoped(), &Suite{}, top.ID); return err }},
		} {
			w.must(gormplugin.AllowRawWrites(w.db).Exec("ANALYZE TABLE suites").Error)
			editing := w.db.Begin()
			// By the primary key: MariaDB would take the index over the marks of deletion, and lock
			// a gap of that.
			for table, id := range map[string]int64{"suites": elsewhere.ID, "cases": theirs.ID} {
				w.must(editing.Exec("SELECT id FROM "+table+" FORCE INDEX (PRIMARY) WHERE id = ? FOR UPDATE", id).Error)
			}
			if err := w.db.Transaction(func(tx *gorm.DB) error { w.impatient(tx); return c.change(tx) }, options); err != nil {
				t.Errorf("%s at %s: %v", c.name, level, err)
			}
			w.must(editing.Commit().Error)
		}
		one, other := w.db.Begin(options), w.db.Begin(options)
		for _, tx := range []*gorm.DB{one, other} {
			w.impatient(tx)
		}
		c, d := w.build("/c"), w.build("/d/x")
		for i := range 3 {
			w.must(one.Create(&Suite{ParentID: &c.ID, Name: fmt.Sprint(i)}).Error)
			w.must(other.Create(&Suite{ParentID: d.ParentID, Name: fmt.Sprint(i)}).Error)
		}
		w.must(one.Commit().Error)
		w.must(other.Commit().Error)
	}
}

// checkDroppedIndex drops the index over paths while the program runs: that costs speed, and
// nothing else.
func checkDroppedIndex(t *testing.T, d Database) {
	migrate(t, d)
	w := newWorld(t, d, settings{})
	x := w.broad("a", 300)
	w.must(gormplugin.Rename(w.db, &Suite{}, x.ID, "one"))
	w.must(w.db.Migrator().DropIndex(&Suite{}, "path"))
	w.must(gormplugin.Rename(w.db, &Suite{}, x.ID, "two"))
	w.must(w.db.Transaction(func(tx *gorm.DB) error { return gormplugin.Rename(tx, &Suite{}, x.ID, "three") }))
	w.hits(gormplugin.Subtree(w.db, &Suite{}, x.ID).Find(&[]Suite{}), 301)
}
