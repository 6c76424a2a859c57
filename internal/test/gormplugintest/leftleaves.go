package gormplugintest

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// leftLeafChecks check the leaves that a row has left behind: the row is deleted for good, and one
// with its id comes again under another name, or somewhere else.
func leftLeafChecks() []check {
	left := func(name string, remove, create func(db *gorm.DB, s *Suite) error) check {
		return check{"left leaves: " + name, func(w *world) {
			gone, other := w.build("/a/old"), w.build("/b")
			files := []*Case{{SuiteID: gone.ID, Name: "f"}, {SuiteID: gone.ID, Name: "g"}}
			w.must(w.db.Create(files).Error)
			w.must(remove(w.db, gone))
			w.must(create(w.db, &Suite{ID: gone.ID, ParentID: &other.ID, Name: "new"}))
			for _, file := range files {
				var now Case
				w.must(w.db.Take(&now, file.ID).Error)
				if want := "/b/new/" + file.Name; now.Column != want || now.Version != file.Version+1 {
					w.Errorf("the leaf is at %s, version %d, want %s, %d", now.Column, now.Version, want, file.Version+1)
				}
			}
			w.sound()
		}}
	}
	insert := func(name string, create func(db *gorm.DB, s *Suite) error) check {
		return left(name, func(db *gorm.DB, s *Suite) error { return db.Unscoped().Delete(s).Error }, create)
	}
	return []check{
		left("a restored row", func(db *gorm.DB, s *Suite) error { return db.Delete(s).Error }, func(db *gorm.DB, s *Suite) error {
			return db.Unscoped().Model(&Suite{ID: s.ID}).Updates(map[string]any{"deleted": nil, "name": s.Name, "parent_id": *s.ParentID}).Error
		}),
		insert("Create", func(db *gorm.DB, s *Suite) error { return db.Create(s).Error }),
		insert("a batch with a row between", func(db *gorm.DB, s *Suite) error {
			between := &Suite{ID: s.ID + 1<<40, ParentID: s.ParentID, Name: "between"}
			return db.Create([]*Suite{between, s}).Error
		}),
		insert("a map", func(db *gorm.DB, s *Suite) error {
			return db.Model(&Suite{}).Create(map[string]any{"id": s.ID, "parent_id": *s.ParentID, "name": s.Name}).Error
		}),
		insert("an upsert", func(db *gorm.DB, s *Suite) error {
			return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(s).Error
		}),
		insert("Copy with keys", func(db *gorm.DB, s *Suite) error {
			source := &Suite{ParentID: s.ParentID, Name: "source"}
			if err := db.Create(source).Error; err != nil {
				return err
			}
			if err := db.Create(&Suite{ParentID: &source.ID, Name: "below"}).Error; err != nil {
				return err
			}
			keys := gorm.Expr("CASE WHEN c.id = ? THEN ? ELSE c.id + ? END", source.ID, s.ID, 1<<40)
			_, err := gormplugin.Copy(db, new(Suite), source.ID, gormplugin.Below(*s.ParentID), gormplugin.CopyAs(s.Name), gormplugin.CopyValues(map[string]any{"id": keys}))
			return err
		}),
		insert("Save", func(db *gorm.DB, s *Suite) error { return db.Save(s).Error }),
		{"left leaves: somebody else changes them", func(w *world) { w.others(outdateLeft) }},
		{"left leaves: an old snapshot", func(w *world) { w.others(snapshotLeft) }},
	}
}

// others has a row come back at every isolation level while somebody else writes its leaves.
func (w *world) others(check func(w *world, level sql.IsolationLevel, create func(db *gorm.DB, s *Suite) error)) {
	if d, err := dialect.Of(dialect.Name(w.db.Name())); err != nil || d.SoleWriter {
		return
	}
	for _, level := range []sql.IsolationLevel{sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		for how, create := range map[string]func(db *gorm.DB, s *Suite) error{
			"Create": func(db *gorm.DB, s *Suite) error { return db.Create(s).Error },
			"Save":   func(db *gorm.DB, s *Suite) error { return db.Save(s).Error },
		} {
			w.Run(fmt.Sprint(how, " at ", level), func(t *testing.T) {
				t.Parallel() // most of it is waiting for locks
				w := *w
				w.T = t
				w.root = w.newPlan()
				check(&w, level, create)
				w.sound()
			})
		}
	}
}

// outdateLeft has somebody delete a leaf that was left behind, and roll that back once the row is
// there again.
func outdateLeft(w *world, level sql.IsolationLevel, create func(db *gorm.DB, s *Suite) error) {
	gone := w.build("/a/old")
	leaf := &Case{SuiteID: gone.ID, Name: "f"}
	w.must(w.db.Create(leaf).Error)
	w.must(w.db.Unscoped().Delete(gone).Error)
	other := w.db.Begin(&sql.TxOptions{Isolation: sql.LevelReadCommitted})
	w.must(other.Delete(leaf).Error)
	w.mayGiveUp(w.db.Transaction(func(tx *gorm.DB) error {
		w.impatient(tx)
		return create(tx, &Suite{ID: gone.ID, ParentID: gone.ParentID, Name: "new"})
	}, &sql.TxOptions{Isolation: level}))
	w.must(other.Rollback().Error)
}

// snapshotLeft has somebody make a leaf, and delete the row above for good, while a transaction
// that brings the row back has read what was before.
func snapshotLeft(w *world, level sql.IsolationLevel, create func(db *gorm.DB, s *Suite) error) {
	gone := w.build("/a/old")
	w.mayGiveUp(w.db.Transaction(func(tx *gorm.DB) error {
		w.must(tx.Find(&[]Other{}).Error)
		w.must(w.db.Create(&Case{SuiteID: gone.ID, Name: "f"}).Error)
		w.must(w.db.Unscoped().Delete(gone).Error)
		return create(tx, &Suite{ID: gone.ID, ParentID: gone.ParentID, Name: "new"})
	}, &sql.TxOptions{Isolation: level}))
}

// impatient has a transaction wait for a row no longer than a second.
func (w *world) impatient(tx *gorm.DB) {
	w.Helper()
	d, err := dialect.Of(dialect.Name(tx.Name()))
	w.must(err)
	w.must(tx.Exec(fmt.Sprintf(cmp.Or(d.LockWait.Set, d.LockWait.Local), time.Second/d.LockWait.Unit)).Error)
}

// mayGiveUp fails the test on an error that asks for neither another try nor another level.
func (w *world) mayGiveUp(err error) {
	w.Helper()

	if err != nil && !errors.Is(err, gormplugin.ErrRetry) && !errors.Is(err, gormplugin.ErrIsolation) {
		w.Fatal(err)
	}
}

// checkRootLeaves has a row that has a leaf come back as the root row of its tree, whatever the
// forms of their paths: under the same key, and restored.
func checkRootLeaves(t *testing.T, d Database) {
	for _, s := range shapes() {
		if s.leaf == nil || s.nameless {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			w := machineWorld(t, d, settings{}, s.options())
			w.must(gormplugin.AutoMigrate(w.db.Set("gorm:table_options", d.TableOptions).Session(&gorm.Session{})))
			x := w.tableOf(s)
			for _, restored := range []bool{false, true} {
				if !restored || s.mark != "" {
					x.bringBack(w, restored)
				}
			}
		})
	}
}

// bringBack deletes the only row of a tree, which has a leaf, and has it come back as the root row.
func (x *table) bringBack(w *world, restored bool) {
	w.Helper()
	for _, name := range []string{"cases", x.quoted(w.db)} {
		w.must(gormplugin.AllowRawWrites(w.db).Exec("DELETE FROM " + name).Error) // the table may have one tree only
	}
	key, tree := x.key().(int64), x.tree()
	create := func(name string) {
		w.Helper()
		values := map[string]any{"id": key, x.label: name}
		x.putIn(values, tree)
		w.must(w.db.Create(x.row(values)).Error)
	}
	create("a")
	leaf := &Case{SuiteID: key, Name: "f"}
	w.must(w.db.Create(leaf).Error)
	if restored {
		w.must(w.db.Where("id = ?", key).Delete(x.new()).Error)
		w.must(w.db.Unscoped().Model(x.new()).Where("id = ?", key).Updates(map[string]any{x.mark: x.restored, x.label: ""}).Error)
	} else {
		w.must(w.db.Unscoped().Where("id = ?", key).Delete(x.new()).Error)
		create("")
	}
	path, ids := "", ""
	if x.leafPaths.Path != "" {
		path = spellingOf(x.leafPaths.PathForm).of("/f")
	}
	if x.leafPaths.IDPath != "" {
		ids = spellingOf(x.leafPaths.IDPathForm).of(fmt.Sprintf("/%d/%d", key, leaf.ID))
	}
	if w.must(w.db.Take(leaf, leaf.ID).Error); leaf.Column != path || leaf.IDs != ids {
		w.Errorf("restored: %t: the leaf has the paths %q, %q, want %q, %q", restored, leaf.Column, leaf.IDs, path, ids)
	}
}
