package gormplugintest

import (
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// associationForms are the forms of writing rows along with others, and the hooks.
func associationForms() []form {
	return []form{
		{name: "children, and theirs", tree: pageTree + " /d/x /d/x/y /d/x/y/z /d/x/v", write: func(w *world, tx *gorm.DB) error {
			return tx.Create(&Page{ParentID: w.parent("/d"), Place: named("x"), Children: []Page{
				{Place: named("y"), Children: []Page{{Place: named("z"), Blocks: []Block{{Name: "t"}}}}},
				{Place: named("v")},
			}}).Error
		}},
		{name: "a parent that is saved before", tree: pageTree + " /d/x /d/x/y", write: func(w *world, tx *gorm.DB) error {
			return tx.Create(&Page{Place: named("y"), Above: &Page{ParentID: w.parent("/d"), Place: named("x")}}).Error
		}},
		{name: "rows of other tables", tree: pageTree + " /d/x", write: func(w *world, tx *gorm.DB) error {
			p := &Page{ParentID: w.parent("/d"), Place: named("x"), Author: &Author{Name: "A"}, Labels: []Label{{Name: "l"}}, Remarks: []Remark{{Text: "r"}}, Meta: map[string]string{"k": "v"}}
			if err := tx.Create(p).Error; err != nil {
				return err
			}
			var again Page
			if err := tx.Preload("Author").Preload("Labels").Preload("Remarks").Joins("Above").Take(&again, p.ID).Error; err != nil {
				return err
			}
			if again.Author == nil || len(again.Labels) != 1 || len(again.Remarks) != 1 || again.Meta["k"] != "v" || again.Above.Place.Path != "/d" {
				w.Errorf("got %+v", again)
			}
			return nil
		}},
		{name: "a child with a name that another one has", refused: taken, write: func(w *world, tx *gorm.DB) error {
			return tx.Transaction(func(tx *gorm.DB) error {
				return tx.Create(&Page{ParentID: w.parent("/d"), Place: named("x"), Children: []Page{{Place: named("y")}, {Place: named("y")}}}).Error
			})
		}},
		{name: "Save of a renamed row that has its children loaded", tree: "/d /x /x/b", write: func(w *world, tx *gorm.DB) error {
			a := w.page("/a")
			a.Place.Name = "x"
			if err := tx.Save(a).Error; err != nil {
				return err
			}
			if got := a.Children[0].Place.Path; got != "/x/b" {
				w.Errorf("the child's struct has the path %q", got)
			}
			return nil
		}},
		{name: "FullSaveAssociations with a renamed child", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Transaction(func(tx *gorm.DB) error {
				a := w.page("/a")
				a.Children[0].Place.Name = "x"
				err := tx.Session(&gorm.Session{FullSaveAssociations: true}).Save(a).Error
				w.advises(err, fmt.Sprintf(`gormplugin.Rename(db, &Page{}, %d, "x")`, w.ids["/a/b"]))
				return err
			})
		}},
		{name: "Save of a row with children one of which was renamed meanwhile", tree: "/d /z /z/b /z/y", write: func(w *world, tx *gorm.DB) error {
			a := w.page("/a")
			// Its name is another one's by now.
			if err := tx.Model(&Page{ID: w.ids["/a/b"]}).Update("at_name", "y").Error; err != nil {
				return err
			}
			if err := tx.Create(&Page{ParentID: w.parent("/a"), Place: named("b")}).Error; err != nil {
				return err
			}
			a.Place.Name = "z"
			return tx.Save(a).Error
		}},
		{name: "Save of a row with a child that was moved away meanwhile", refused: changed, write: func(w *world, tx *gorm.DB) error {
			return tx.Transaction(func(tx *gorm.DB) error {
				a := w.page("/a")
				if err := tx.Model(&Page{ID: w.ids["/a/b"]}).Update("parent_id", w.ids["/d"]).Error; err != nil {
					return err
				}
				return tx.Save(a).Error
			})
		}},
		{name: "Save of a row with leaves one of which was renamed meanwhile", write: func(w *world, tx *gorm.DB) error {
			b := w.page("/a/b")
			b.Above = nil
			if err := tx.Model(&Block{ID: b.Blocks[0].ID}).Update("name", "renamed").Error; err != nil {
				return err
			}
			return tx.Save(b).Error
		}, check: func(w *world) {
			var name string
			w.must(w.db.Raw("SELECT name FROM blocks WHERE page_id = ?", w.ids["/a/b"]).Row().Scan(&name))
			if name != "renamed" {
				w.Errorf("the leaf is called %q", name)
			}
		}},
		{name: "an upsert of a column that says nothing of a row's place", write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.AssignmentColumns([]string{"author_id"})}).
				Create(&Page{ID: w.ids["/a/b"], ParentID: w.parent("/d"), Place: named("other")}).Error
		}},
		{name: "Association.Append of a new child", tree: pageTree + " /d/x", write: func(w *world, tx *gorm.DB) error {
			return tx.Model(w.page("/d")).Association("Children").Append(&Page{Place: named("x")})
		}},
		{name: "Association.Append of a row from elsewhere", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Transaction(func(tx *gorm.DB) error {
				err := tx.Model(w.page("/d")).Association("Children").Append(w.page("/a/b"))
				w.advises(err, fmt.Sprintf("gormplugin.Move(db, &Page{}, %d, gormplugin.Below(%d))", w.ids["/a/b"], w.ids["/d"]))
				return err
			})
		}},
		{name: "Association.Delete lets a child go to the top", tree: "/a /b /d", write: func(w *world, tx *gorm.DB) error {
			return tx.Model(w.page("/a")).Association("Children").Delete(&Page{ID: w.ids["/a/b"]})
		}},
		{name: "Association.Replace", tree: "/a /a/x /b /d", write: func(w *world, tx *gorm.DB) error {
			return tx.Model(w.page("/a")).Association("Children").Replace(&Page{Place: named("x")})
		}},
		{name: "Delete and Select of the children", tree: "/d", write: func(w *world, tx *gorm.DB) error {
			return tx.Select("Children", "Children.Blocks").Delete(w.page("/a")).Error
		}},
		{name: "a hook that moves a new row", tree: pageTree + " /d/x", write: func(w *world, tx *gorm.DB) error {
			return tx.Create(&Page{ParentID: w.parent("/a"), Place: named("x"), Hook: func(_ *Page, tx *gorm.DB) error {
				tx.Statement.SetColumn("ParentID", w.parent("/d"))
				return nil
			}}).Error
		}},
		{name: "a hook that renames an old row", tree: "/d /y /y/b", write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Page{ID: w.ids["/a"], Hook: func(_ *Page, tx *gorm.DB) error {
				tx.Statement.SetColumn("at_name", "y")
				return nil
			}}).Update("at_name", "x").Error
		}},
		{name: "a hook that writes the tree", tree: "/d /d/z /x /x/b", write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Page{ID: w.ids["/a"], Hook: func(_ *Page, tx *gorm.DB) error {
				return tx.Session(&gorm.Session{NewDB: true}).Create(&Page{ParentID: w.parent("/d"), Place: named("z")}).Error
			}}).Update("at_name", "x").Error
		}},
		{name: "a name that GORM fills in", tree: pageTree + " /d/untitled /untitled", write: func(w *world, tx *gorm.DB) error {
			return tx.Create([]*Page{{ParentID: w.parent("/d")}, {Place: Place{SiteID: w.root.PlanID}}}).Error
		}},
	}
}

// advises checks what a refusal says to do instead.
func (w *world) advises(err error, instead string) {
	w.Helper()
	if err == nil || !strings.Contains(err.Error(), instead) {
		w.Errorf("got the error %v, want one that says %s", err, instead)
	}
}
