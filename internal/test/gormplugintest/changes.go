package gormplugintest

import (
	"math/rand/v2"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// change is one kind of write, to a plan that has the rows /a/b/c and /d.
type change struct {
	name string
	// typical is set for those that between them have each kind of statement.
	typical bool
	run     func(db *gorm.DB, at map[string]*Suite) error
}

// changes are those that differ in what they read, lock and write. All of them change what
// [world.state] returns.
func changes() []change {
	return []change{
		{"insert", false, func(db *gorm.DB, at map[string]*Suite) error {
			return db.Create([]*Suite{{ParentID: &at["/a"].ID, Name: "new"}, {ParentID: &at["/d"].ID, Name: "new"}}).Error
		}},
		{"rename", true, func(db *gorm.DB, at map[string]*Suite) error {
			return db.Model(&Suite{ID: at["/a"].ID}).Update("name", "z").Error
		}},
		{"move", false, func(db *gorm.DB, at map[string]*Suite) error {
			return db.Model(&Suite{}).Where("id = ?", at["/a/b"].ID).Update("parent_id", at["/d"].ID).Error
		}},
		{"delete for good", true, func(db *gorm.DB, at map[string]*Suite) error {
			return db.Unscoped().Where("id = ?", at["/a"].ID).Delete(&Suite{}).Error
		}},
		{"restore", false, func(db *gorm.DB, at map[string]*Suite) error {
			return db.Unscoped().Model(&Suite{}).Where("id = ?", at["/gone"].ID).Update("deleted", nil).Error
		}},
		{"insert a leaf", false, func(db *gorm.DB, at map[string]*Suite) error {
			return db.Create(&Case{SuiteID: at["/a"].ID, Name: "leaf"}).Error
		}},
		{"Copy", true, func(db *gorm.DB, at map[string]*Suite) error {
			_, err := gormplugin.Copy(db, &Suite{}, at["/a"].ID, gormplugin.Below(at["/d"].ID), gormplugin.CopyLeaves(&Case{}, nil))
			return err
		}},
		{"insert above leaves", false, func(db *gorm.DB, at map[string]*Suite) error {
			return db.Create(&Suite{ID: at["/left"].ID, ParentID: &at["/a"].ID, Name: "new"}).Error
		}},
	}
}

// changeable makes a plan with the rows that changes need, and one that was deleted.
func (w *world) changeable() map[string]*Suite {
	w.Helper()
	w.root = w.newPlan()
	at := map[string]*Suite{"": w.root}
	var rows []*Suite
	for _, path := range []string{"/a", "/a/b", "/a/b/c", "/d", "/gone", "/left"} {
		above, name := path[:strings.LastIndexByte(path, '/')], path[strings.LastIndexByte(path, '/')+1:]
		// With keys of their own, rows are created together with those below them.
		at[path] = &Suite{ID: rand.Int64N(1<<50) + 1, ParentID: &at[above].ID, Name: name}
		rows = append(rows, at[path])
	}
	w.must(w.db.Create(rows).Error)
	w.must(w.db.Create([]*Case{{SuiteID: at["/a/b"].ID, Name: "f"}, {SuiteID: at["/left"].ID, Name: "f"}}).Error)
	w.must(w.db.Delete(&Suite{ID: at["/gone"].ID}).Error)
	w.must(w.db.Unscoped().Delete(&Suite{ID: at["/left"].ID}).Error)
	return at
}

// way is a way in which a statement can be run.
type way struct {
	name string
	// within is set where the caller began the transaction.
	within bool
	// nested is set where there is a savepoint, too.
	nested bool
	// connections bounds the pool, if it is not 0.
	connections int
	run         func(db *gorm.DB, statement func(*gorm.DB) error) error
}

func ways() []way {
	alone := func(db *gorm.DB, statement func(*gorm.DB) error) error { return statement(db) }
	return []way{
		// A call that waits for the one connection waits only for whoever holds it.
		{name: "alone on one connection", connections: 1, run: alone},
		{name: "in a transaction", within: true, run: func(db *gorm.DB, statement func(*gorm.DB) error) error { return db.Transaction(statement) }},
		{name: "under a savepoint", within: true, nested: true, run: func(db *gorm.DB, statement func(*gorm.DB) error) error {
			return db.Transaction(func(tx *gorm.DB) error { return tx.Transaction(statement) })
		}},
	}
}

// state returns what the tree is: the paths, and the leaves below it.
func (w *world) state() string {
	w.Helper()
	var leaves []string
	w.must(w.db.Raw("SELECT cases.path_column FROM cases JOIN suites ON suites.id = cases.suite_id WHERE suites.plan_id = ? ORDER BY 1", w.root.PlanID).Scan(&leaves).Error)
	state := w.paths()
	for _, leaf := range leaves {
		state += " +" + leaf
	}
	return state
}
