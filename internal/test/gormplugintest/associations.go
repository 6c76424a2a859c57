package gormplugintest

import (
	"math/rand/v2"

	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm"
)

// pageTree is the tree that the forms on pages begin with; a block hangs below /a/b.
const pageTree = "/a /a/b /d"

// plantPages makes pageTree.
func plantPages(w *world) {
	w.Helper()
	site := rand.Int64N(1 << 50)
	rows := []*Page{
		{Place: Place{SiteID: site, Name: "a"}, Children: []Page{{Place: named("b"), Blocks: []Block{{Name: "t"}}}}}, {Place: Place{SiteID: site, Name: "d"}},
	}
	w.must(w.db.Create(rows).Error)
	w.root = &Suite{PlanID: site}
	w.ids = map[string]int64{"/a": rows[0].ID, "/a/b": rows[0].Children[0].ID, "/d": rows[1].ID}
}

// page returns a planted row with the path, with its associations.
func (w *world) page(path string) *Page {
	w.Helper()
	p := new(Page)
	w.must(w.db.Preload("Children").Preload("Blocks").Preload("Above").Take(p, w.ids[path]).Error)
	return p
}

// named is the place of a new page.
func named(name string) Place { return Place{Name: name} }

// associationForms are the forms of writing rows along with others, and the hooks.
func associationForms() []form {
	children := func(w *world, tx *gorm.DB, path string) *gorm.Association {
		return tx.Model(w.page(path)).Association("Children")
	}
	return []form{
		{name: "children, and theirs", tree: pageTree + " /d/x /d/x/y /d/x/y/z /d/x/v", write: func(w *world, tx *gorm.DB) error {
			return tx.Create(&Page{ParentID: w.parent("/d"), Place: named("x"), Children: []Page{
				{Place: named("y"), Children: []Page{{Place: named("z"), Blocks: []Block{{Name: "t"}}}}},
				{Place: named("v")},
			}}).Error
		}},
		{name: "Save of a renamed row that has its children loaded", tree: "/d /x /x/b", write: func(w *world, tx *gorm.DB) error {
			a := w.page("/a")
			a.Place.Name = "x"
			err := tx.Save(a).Error
			if got := a.Children[0].Place.Path; got != "/x/b" {
				w.Errorf("the child's struct has the path %q", got)
			}
			return err
		}},
		{name: "FullSaveAssociations with a renamed row, child and leaf", tree: "/d /x /x/y", write: func(w *world, tx *gorm.DB) error {
			a := new(Page)
			w.must(w.db.Preload("Children.Blocks").Take(a, w.ids["/a"]).Error)
			child := &a.Children[0]
			a.Place.Name, child.Place.Name, child.Blocks[0].Name = "x", "y", "v"
			err := tx.Session(&gorm.Session{FullSaveAssociations: true}).Save(a).Error
			if child.Place.Path != "/x/y" || child.Blocks[0].Under != "/x/y" {
				w.Errorf("the structs have the paths %q and %q", child.Place.Path, child.Blocks[0].Under)
			}
			return err
		}},
		{name: "FullSaveAssociations with a row that moves and a renamed child", tree: "/d /d/a /d/a/y", write: func(w *world, tx *gorm.DB) error {
			a := w.page("/a")
			a.ParentID, a.Children[0].Place.Name = w.parent("/d"), "y"
			return tx.Session(&gorm.Session{FullSaveAssociations: true}).Save(a).Error
		}},
		{name: "FullSaveAssociations with a renamed row and a renamed one above", tree: "/d /x /x/y", write: func(w *world, tx *gorm.DB) error {
			b := w.page("/a/b")
			b.Above.Place.Name, b.Place.Name = "x", "y"
			return tx.Session(&gorm.Session{FullSaveAssociations: true}).Save(b).Error
		}},
		{name: "FullSaveAssociations with a child that was renamed meanwhile", refused: pathlock.ErrPathChanged, write: func(w *world, tx *gorm.DB) error {
			return tx.Transaction(func(tx *gorm.DB) error {
				a := w.page("/a")
				w.must(tx.Model(&Page{ID: w.ids["/a/b"]}).Update("at_name", "z").Error)
				return tx.Session(&gorm.Session{FullSaveAssociations: true}).Save(a).Error
			})
		}},
		{name: "Save of a row with children one of which was renamed meanwhile", tree: "/d /z /z/b /z/y", write: func(w *world, tx *gorm.DB) error {
			a := w.page("/a")
			// Its name is another one's by now.
			w.must(tx.Model(&Page{ID: w.ids["/a/b"]}).Update("at_name", "y").Error)
			w.must(tx.Create(&Page{ParentID: w.parent("/a"), Place: named("b")}).Error)
			a.Place.Name = "z"
			return tx.Save(a).Error
		}},
		{name: "Save of a row with a child that was moved away meanwhile", refused: pathlock.ErrPathChanged, write: func(w *world, tx *gorm.DB) error {
			return tx.Transaction(func(tx *gorm.DB) error {
				a := w.page("/a")
				w.must(tx.Model(&Page{ID: w.ids["/a/b"]}).Update("parent_id", w.ids["/d"]).Error)
				return tx.Save(a).Error
			})
		}},
		{name: "Append of a row from elsewhere", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Transaction(func(tx *gorm.DB) error {
				return children(w, tx, "/d").Append(w.page("/a/b"))
			})
		}},
		{name: "Replace lets a child go to the top", tree: "/a /a/x /b /d", write: func(w *world, tx *gorm.DB) error {
			return children(w, tx, "/a").Replace(&Page{Place: named("x")})
		}},
		{name: "a hook that makes the tree of other columns", tree: pageTree + " /x", write: func(w *world, tx *gorm.DB) error {
			return tx.Create(&Page{Place: named("x"), Hook: func(_ *Page, tx *gorm.DB) error {
				tx.Statement.SetColumn("SiteID", w.root.PlanID)
				return nil
			}}).Error
		}},
		{name: "a hook that moves a new row", tree: pageTree + " /d/x", write: func(w *world, tx *gorm.DB) error {
			return tx.Create(&Page{ParentID: w.parent("/a"), Place: named("x"), Hook: func(_ *Page, tx *gorm.DB) error {
				tx.Statement.SetColumn("ParentID", w.parent("/d"))
				return nil
			}}).Error
		}},
	}
}
