package gormplugintest

import (
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock/gormplugin"
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
	}
}
