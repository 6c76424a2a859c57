package gormplugintest

import (
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// zeroChecks are about values that say nothing, assigned to columns that say where a row is or
// whether it is: the row stays where it is, or the update is refused.
func zeroChecks() []check {
	var checks []check
	for _, assigned := range []map[string]any{
		{"path": ""}, {"path": nil}, {"plan_id": 0}, {"plan_id": nil}, {"id": 0}, {"id": nil}, {"Path": "", "PlanID": 0},
	} {
		for _, note := range []bool{false, true} {
			values := map[string]any{}
			for column, value := range assigned {
				values[column] = value
			}
			if note {
				values["note"] = "n"
			}
			checks = append(checks, check{fmt.Sprint("updates with ", values), func(w *world) {
				w.build("/a/b/c")
				id := w.build("/a/b").ID
				err := w.db.Model(&Suite{}).Where("id = ?", id).Updates(values).Error
				if err != nil {
					w.fails(err, gormplugin.ErrUnsupported)
				}
				w.has("/a", "/a/b", "/a/b/c")
				w.must(w.db.Take(&Suite{}, id).Error)
			}})
		}
	}
	for name, write := range map[string]func(db *gorm.DB, s *Suite) error{
		"a path that is selected": func(db *gorm.DB, s *Suite) error {
			return db.Model(&Suite{ID: s.ID}).Select("Path", "Note").Updates(Suite{Note: "n"}).Error
		},
		"a tree that is selected": func(db *gorm.DB, s *Suite) error {
			return db.Model(&Suite{ID: s.ID}).Select("PlanID").Updates(Suite{}).Error
		},
		"a path that is saved": func(db *gorm.DB, s *Suite) error {
			return db.Select("Path", "Note").Save(&Suite{ID: s.ID, Note: "n"}).Error
		},
	} {
		checks = append(checks, check{name, func(w *world) {
			w.build("/a/b/c")
			w.must(write(w.db, w.build("/a/b")))
			w.has("/a", "/a/b", "/a/b/c")
		}})
	}
	for name, value := range map[string]any{
		"NULL": gorm.Expr("NULL"), "a parameter": gorm.Expr("?", nil), "a function": gorm.Expr("NULLIF(1, 1)"),
	} {
		checks = append(checks, check{"a mark of deletion that is an expression: " + name, func(w *world) {
			w.build("/a/b/c")
			b := w.build("/a/b")
			w.must(w.db.Delete(b).Error)
			w.must(w.db.Model(w.build("/a")).Update("name", "z").Error)
			w.fails(w.db.Unscoped().Model(&Suite{}).Where("id = ?", b.ID).Update("deleted", value).Error, gormplugin.ErrUnsupported)
			w.has("/z")
		}})
	}
	for _, live := range []any{0, "0", false, nil} {
		checks = append(checks, check{fmt.Sprintf("a flag that is set to %#v", live), func(w *world) {
			drive := w.tree().ID()
			a := &Flagged{DriveID: drive, Name: "a"}
			w.must(w.db.Create(a).Error)
			b := &Flagged{ParentID: a.ID, Name: "b"}
			w.must(w.db.Create(b).Error)
			w.must(w.db.Delete(b).Error)
			w.must(w.db.Model(a).Update("name", "z").Error)
			err := w.db.Unscoped().Model(&Flagged{}).Where("id = ?", b.ID).Update("deleted", live).Error
			if err != nil {
				w.fails(err, gormplugin.ErrUnsupported)
				w.flagged("/z")
				return
			}
			w.flagged("/z", "/z/b")
		}})
	}
	checks = append(checks, check{"a row in a map that states no flag", func(w *world) {
		drive := w.tree().ID()
		w.must(w.db.Model(&Flagged{}).Create(map[string]any{"drive_id": drive, "name": "a"}).Error)
		w.flagged("/a")
		w.fails(w.db.Create(&Flagged{DriveID: drive, Name: "a"}).Error, gormplugin.ErrNameTaken)
	}})
	return append(checks, check{"a statement that is used twice", func(w *world) {
		a := w.build("/a")
		w.build("/a/b")
		twice := w.db.Model(a)
		w.must(twice.Update("note", "n").Error)
		w.must(twice.Update("name", "z").Error)
		w.must(twice.Update("note", "m").Error)
		w.has("/z", "/z/b")
	}})
}
