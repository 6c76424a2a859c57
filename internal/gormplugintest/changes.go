package gormplugintest

import (
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// change is one kind of write. Its statement changes a plan that has been built by the paths in
// rows.
type change struct {
	name string
	rows []string
	// statement returns what is to be run; it can be run again as long as it has failed.
	statement func(w *world) func(db *gorm.DB) error
}

// changes are those that differ in what they read, lock and write. All of them change what
// [world.state] returns.
func changes() []change {
	id := func(w *world, path string) int64 { return w.build(path).ID }
	return []change{
		{"insert", []string{"/a"}, func(w *world) func(*gorm.DB) error {
			parent := id(w, "/a")
			return func(db *gorm.DB) error { return db.Create(&Suite{ParentID: &parent, Name: "new"}).Error }
		}},
		{"insert a batch", []string{"/a", "/b"}, func(w *world) func(*gorm.DB) error {
			a, b := id(w, "/a"), id(w, "/b")
			return func(db *gorm.DB) error {
				return db.Create([]*Suite{{ParentID: &a, Name: "new"}, {ParentID: &b, Name: "new"}}).Error
			}
		}},
		{"rename", []string{"/a/b/c"}, func(w *world) func(*gorm.DB) error {
			a := id(w, "/a")
			return func(db *gorm.DB) error { return db.Model(&Suite{ID: a}).Update("name", "z").Error }
		}},
		{"move", []string{"/a/b/c", "/d"}, func(w *world) func(*gorm.DB) error {
			b, d := id(w, "/a/b"), id(w, "/d")
			return func(db *gorm.DB) error {
				return db.Model(&Suite{}).Where("id = ?", b).Update("parent_id", d).Error
			}
		}},
		{"delete", []string{"/a/b/c"}, func(w *world) func(*gorm.DB) error {
			a := id(w, "/a")
			return func(db *gorm.DB) error { return db.Delete(&Suite{ID: a}).Error }
		}},
		{"delete for good", []string{"/a/b/c"}, func(w *world) func(*gorm.DB) error {
			a := id(w, "/a")
			return func(db *gorm.DB) error { return db.Unscoped().Where("id = ?", a).Delete(&Suite{}).Error }
		}},
		{"restore", []string{"/a/b"}, func(w *world) func(*gorm.DB) error {
			b := id(w, "/a/b")
			w.must(w.db.Delete(&Suite{ID: b}).Error)
			return func(db *gorm.DB) error {
				return db.Unscoped().Model(&Suite{}).Where("id = ?", b).Update("deleted", nil).Error
			}
		}},
		{"save", []string{"/a/b"}, func(w *world) func(*gorm.DB) error {
			a := w.build("/a")
			return func(db *gorm.DB) error {
				saved := *a
				saved.Name = "z"
				return db.Save(&saved).Error
			}
		}},
		{"insert a leaf", []string{"/a"}, func(w *world) func(*gorm.DB) error {
			a := id(w, "/a")
			return func(db *gorm.DB) error { return db.Create(&Case{SuiteID: a, Name: "leaf"}).Error }
		}},
	}
}

// functions are the changes by the package's own functions, which are tried again as a whole.
func functions() []change {
	rows := []string{"/a/b/c", "/d"}
	ids := func(w *world) (a, d int64) { return w.build("/a").ID, w.build("/d").ID }
	return []change{
		{"Rename", rows, func(w *world) func(*gorm.DB) error {
			a, _ := ids(w)
			return func(db *gorm.DB) error { return gormplugin.Rename(db, &Suite{}, a, "z") }
		}},
		{"Move", rows, func(w *world) func(*gorm.DB) error {
			a, d := ids(w)
			return func(db *gorm.DB) error { return gormplugin.Move(db, &Suite{}, a, gormplugin.Below(d)) }
		}},
		{"Copy", rows, func(w *world) func(*gorm.DB) error {
			a, d := ids(w)
			return func(db *gorm.DB) error {
				_, err := gormplugin.Copy(db, &Suite{}, a, gormplugin.Below(d))
				return err
			}
		}},
		{"Delete", rows, func(w *world) func(*gorm.DB) error {
			a, _ := ids(w)
			return func(db *gorm.DB) error {
				_, err := gormplugin.Delete(db, &Suite{}, a)
				return err
			}
		}},
	}
}

// way is a way in which a statement can be run.
type way struct {
	name string
	run  func(db *gorm.DB, statement func(*gorm.DB) error) error
}

func ways() []way {
	return []way{
		{"alone", func(db *gorm.DB, statement func(*gorm.DB) error) error { return statement(db) }},
		{"in a transaction", func(db *gorm.DB, statement func(*gorm.DB) error) error { return db.Transaction(statement) }},
		{"under a savepoint", func(db *gorm.DB, statement func(*gorm.DB) error) error {
			return db.Transaction(func(tx *gorm.DB) error { return tx.Transaction(statement) })
		}},
		{"prepared", func(db *gorm.DB, statement func(*gorm.DB) error) error {
			return db.Session(&gorm.Session{PrepareStmt: true}).Transaction(statement)
		}},
	}
}

// state returns what the tree is: the paths, and the leaves below it.
func (w *world) state() string {
	w.Helper()
	var leaves []string
	w.must(w.db.Raw("SELECT cases.name FROM cases JOIN suites ON suites.id = cases.suite_id WHERE suites.plan_id = ?", w.root.PlanID).Scan(&leaves).Error)
	state := w.paths()
	for _, leaf := range leaves {
		state += " +" + leaf
	}
	return state
}
