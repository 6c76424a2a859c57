package gormplugintest

import (
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

func updateChecks() []check {
	return append(renameChecks(), moveChecks()...)
}

func renameChecks() []check {
	return []check{
		{"a rename takes the subtree along, and nothing beside it", func(w *world) {
			d1 := w.build("/d1")
			for _, p := range []string{"/d1/x/y", "/d10/x", "/d1 0/x", "/d1%/x", "/d_/x", "/D1/x", "/d1x"} {
				w.build(p)
			}
			w.must(w.db.Model(d1).Update("name", "e").Error)
			w.has("/D1", "/D1/x", "/d1 0", "/d1 0/x", "/d1%", "/d1%/x", "/d10", "/d10/x", "/d1x", "/d_", "/d_/x", "/e", "/e/x", "/e/x/y")
		}},
		{"wildcards in the renamed name", func(w *world) {
			percent := w.build("/d%")
			for _, p := range []string{"/d%/x", "/d1/x", "/d__/x"} {
				w.build(p)
			}
			w.must(w.db.Model(percent).Update("name", "e").Error)
			w.has("/d1", "/d1/x", "/d__", "/d__/x", "/e", "/e/x")
		}},
		{"names beyond ASCII, longer and shorter", func(w *world) {
			w.build("/测试/子目录/é")
			top := w.build("/测试")
			w.must(w.db.Model(top).Update("name", "𝒳").Error)
			w.has("/𝒳", "/𝒳/子目录", "/𝒳/子目录/é")
			w.must(w.db.Model(top).Update("name", "plain").Error)
			w.has("/plain", "/plain/子目录", "/plain/子目录/é")
		}},
		{"a name of which the subtree repeats the beginning", func(w *world) {
			w.build("/a/a/a")
			w.must(w.db.Model(w.build("/a/a")).Update("name", "aa").Error)
			w.has("/a", "/a/aa", "/a/aa/a")
		}},
		{"rows that lie within each other, renamed by one statement", func(w *world) {
			for _, p := range []string{"/a/b/c/d", "/a/b/c/e/f", "/a/g"} {
				w.build(p)
			}
			ids := []int64{w.build("/a").ID, w.build("/a/b/c").ID, w.build("/a/b/c/e/f").ID}
			w.must(w.db.Model(&Suite{}).Where("id IN ?", ids).Update("name", "z").Error)
			w.has("/z", "/z/b", "/z/b/z", "/z/b/z/d", "/z/b/z/e", "/z/b/z/e/z", "/z/g")
		}},
		{"rows that lie within each other, moved by one statement", func(w *world) {
			for _, p := range []string{"/a/b/c/d", "/a/b/e", "/t"} {
				w.build(p)
			}
			ids := []int64{w.build("/a").ID, w.build("/a/b/c").ID}
			w.must(w.db.Model(&Suite{}).Where("id IN ?", ids).Update("parent_id", w.build("/t").ID).Error)
			w.has("/t", "/t/a", "/t/a/b", "/t/a/b/e", "/t/c", "/t/c/d")
		}},
		{"the struct that was updated has the new path and version", func(w *world) {
			a := w.suite(w.root, "a")
			w.must(w.db.Model(a).Updates(Suite{Name: "b"}).Error)
			if a.Path != "/b" || a.Name != "b" || a.Version != 1 {
				w.Errorf("got %+v", a)
			}
		}},
		{"versions grow where paths change, and only there", func(w *world) {
			ab, c := w.build("/a/b"), w.build("/c")
			w.must(w.db.Model(w.build("/a")).Update("name", "x").Error)
			for s, want := range map[*Suite]int64{w.build("/x"): 1, w.build("/x/b"): ab.Version + 1, w.build("/c"): c.Version} {
				if s.Version != want {
					w.Errorf("%s has the version %d, want %d", s.Path, s.Version, want)
				}
			}
		}},
		{"every form of update", func(w *world) {
			a := w.build("/a")
			w.build("/a/b")
			for name, write := range map[string]func(tx *gorm.DB, name string) error{
				"Update":          func(tx *gorm.DB, n string) error { return tx.Model(a).Update("name", n).Error },
				"UpdateColumn":    func(tx *gorm.DB, n string) error { return tx.Model(a).UpdateColumn("name", n).Error },
				"Updates(struct)": func(tx *gorm.DB, n string) error { return tx.Model(a).Updates(&Suite{Name: n}).Error },
				"Updates(map)": func(tx *gorm.DB, n string) error {
					return tx.Model(a).Updates(map[string]any{"Name": n, "note": "x"}).Error
				},
				"UpdateColumns": func(tx *gorm.DB, n string) error { return tx.Model(a).UpdateColumns(map[string]any{"name": n}).Error },
				"condition": func(tx *gorm.DB, n string) error {
					return tx.Model(&Suite{}).Where("id = ?", a.ID).Update("name", n).Error
				},
				"or": func(tx *gorm.DB, n string) error {
					return tx.Model(&Suite{}).Where("id = ?", a.ID).Or("id = ?", -1).Update("name", n).Error
				},
				"Save": func(tx *gorm.DB, n string) error {
					w.must(tx.Take(a, a.ID).Error)
					a.Name = n
					return tx.Save(a).Error
				},
				"Select": func(tx *gorm.DB, n string) error {
					return tx.Model(a).Select("Name").Updates(Suite{Name: n, Note: "not this"}).Error
				},
			} {
				to := strings.ToLower(strings.NewReplacer("(", "-", ")", "").Replace(name))
				if err := write(w.db, to); err != nil {
					w.Fatalf("%s: %v", name, err)
				}
				w.has("/"+to, "/"+to+"/b")
			}
		}},
		{"an omitted name is not a rename", func(w *world) {
			a := w.suite(w.root, "a")
			w.must(w.db.Model(a).Omit("name").Updates(Suite{Name: "b", Note: "x"}).Error)
			w.has("/a")
		}},
		{"what does not touch the tree is not locked", func(w *world) {
			a := w.suite(w.root, "a")
			defer w.holding("/")()
			w.trace.reset()
			w.must(w.db.Model(a).Update("note", "x").Error)
			if got := w.trace.String(); got != "begin commit" {
				w.Errorf("events: %s", got)
			}
		}},
		{"a Save that changes nothing in the tree takes no lock and keeps the version", func(w *world) {
			a := w.suite(w.root, "a")
			defer w.holding("/")()
			for range 2 { // the second one changes no column at all
				a.Note = "x"
				w.must(w.db.Save(a).Error)
			}
			var now Suite
			w.must(w.db.Take(&now, a.ID).Error)
			if now.Note != "x" || now.Version != 0 || now.Path != "/a" {
				w.Errorf("got %+v", now)
			}
		}},
		{"a Save of a stale struct that stays in its place has the present path", func(w *world) {
			w.build("/p/a")
			stale := w.build("/p/a")
			w.must(w.db.Model(w.build("/p")).Update("name", "q").Error)
			stale.Note = "x"
			w.must(w.db.Save(stale).Error)
			var now Suite
			w.must(w.db.Take(&now, stale.ID).Error)
			if now.Note != "x" || stale.Path != "/q/a" {
				w.Errorf("the row is %+v, and the struct's path %s", now, stale.Path)
			}
			w.has("/q", "/q/a")
		}},
		{"a Save of a new struct inserts it", func(w *world) {
			w.must(w.db.Save(&Suite{ParentID: &w.root.ID, Name: "a"}).Error)
			w.has("/a")
		}},
		{"many rows at once, some of them above others", func(w *world) {
			for _, p := range []string{"/x/x/a", "/b/x/x/c", "/x/y"} {
				w.build(p)
			}
			w.must(w.db.Model(&Suite{}).Where("plan_id = ? AND name = ?", w.root.PlanID, "x").Update("name", "longer").Error)
			w.has("/b", "/b/longer", "/b/longer/longer", "/b/longer/longer/c", "/longer", "/longer/longer", "/longer/longer/a", "/longer/y")
		}},
		{"a row that has the name already stays as it is", func(w *world) {
			for _, p := range []string{"/p/x/1", "/q/y/2"} {
				w.build(p)
			}
			w.must(w.db.Model(&Suite{}).Where("plan_id = ? AND name IN ('x', 'y')", w.root.PlanID).Update("name", "x").Error)
			w.has("/p", "/p/x", "/p/x/1", "/q", "/q/x", "/q/x/2")
			if s := w.build("/p/x"); s.Version != 0 {
				w.Errorf("it has the version %d", s.Version)
			}
		}},
		{"hooks see the old values until GORM assigns the new ones", func(w *world) {
			a, b := w.build("/a"), w.build("/b")
			seen := false
			w.must(w.db.Callback().Update().Before("gorm:before_update").Register("test:look", func(tx *gorm.DB) {
				if tx.Statement.Model != a {
					return // the plugin's own statement
				}
				seen = a.Name == "a" && *a.ParentID == w.root.ID && tx.Statement.Changed("ParentID")
			}))
			w.must(w.db.Model(a).Updates(map[string]any{"parent_id": b.ID, "name": "c"}).Error)
			if !seen {
				w.Error("a hook saw the new values, or no change")
			}
		}},
		{"a rename to a name that a sibling has", func(w *world) {
			a := w.build("/a")
			w.build("/a/x")
			w.suite(w.root, "b")
			err := w.db.Model(a).Update("name", "b").Error
			w.fails(err, gormplugin.ErrNameTaken)
			w.wantTaken(err, "/b")
			w.has("/a", "/a/x", "/b")
		}},
		{"a taken name inside a transaction that goes on", func(w *world) {
			a := w.build("/a")
			w.build("/a/x")
			w.suite(w.root, "b")
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				w.fails(behindSavepoint(tx, func(tx *gorm.DB) error {
					return tx.Model(&Suite{ID: a.ID}).Update("name", "b").Error
				}), gormplugin.ErrNameTaken)
				return nil
			}))
			w.has("/a", "/a/x", "/b")
		}},
		{"the path column cannot be written at will", func(w *world) {
			a := w.suite(w.root, "a")
			w.fails(w.db.Model(a).UpdateColumn("path", "/elsewhere").Error, pathlock.ErrPathChanged)
			w.must(w.db.Model(&Suite{ID: a.ID}).UpdateColumn("path", "/a").Error)
			w.has("/a")
		}},
		{"an expression as name, or as parent", func(w *world) {
			a := w.suite(w.root, "a")
			w.fails(w.db.Model(a).Update("name", gorm.Expr("CONCAT(name, 'x')")).Error, gormplugin.ErrUnsupported)
			w.fails(w.db.Model(a).Update("parent_id", w.db.Model(&Suite{}).Select("1")).Error, gormplugin.ErrUnsupported)
			w.has("/a")
		}},
		{"the root row", func(w *world) {
			w.fails(w.db.Model(w.root).Update("name", "x").Error, gormplugin.ErrUnsupported)
			w.fails(w.db.Model(&Suite{}).Where("id = ?", w.root.ID).Update("parent_id", w.build("/a").ID).Error, gormplugin.ErrUnsupported)
		}},
		{"without a condition", func(w *world) {
			w.fails(w.db.Model(&Suite{}).Update("name", "x").Error, gorm.ErrMissingWhereClause)
		}},
		{"under an alias, and without a model", func(w *world) {
			a := w.suite(w.root, "a")
			w.fails(w.db.Table("suites AS s").Model(&Suite{}).Where("s.id = ?", a.ID).Update("name", "x").Error, gormplugin.ErrUnsupported)
			w.fails(w.db.Table("suites").Where("id = ?", a.ID).Update("name", "x").Error, gormplugin.ErrUnsupported)
			w.has("/a")
		}},
		{"a path that would grow too long, for any descendant", func(w *world) {
			a := w.build("/a/" + strings.Repeat("é", 240) + "/" + strings.Repeat("é", 240))
			before := w.paths()
			w.fails(w.db.Model(w.build("/a")).Update("name", strings.Repeat("x", 30)).Error, gormplugin.ErrPathTooLong)
			w.fails(w.db.Create(&Suite{ParentID: &a.ID, Name: strings.Repeat("é", 30)}).Error, gormplugin.ErrPathTooLong)
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				// It is refused before anything is written, so that the transaction can go on.
				w.fails(tx.Model(&Suite{}).Where("plan_id = ? AND path = ?", w.root.PlanID, "/a").Update("name", strings.Repeat("x", 30)).Error, gormplugin.ErrPathTooLong)
				return tx.Model(a).Update("note", "goes on").Error
			}))
			w.has(before)
			// The long ones are nobody else's business.
			w.build("/b/c")
			w.must(w.db.Model(w.build("/b")).Update("name", strings.Repeat("x", 30)).Error)
		}},
	}
}
