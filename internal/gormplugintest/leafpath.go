package gormplugintest

import (
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// told is a write of a leaf, and what the struct is told of the leaf's path.
type told struct {
	name string
	// do writes the leaf t in /a/b, or another one, by way of db. /d is another row.
	do   func(w *world, db *gorm.DB, leaf *Case) (*Case, error)
	want string
}

func toldPaths() []told {
	update := func(change func(w *world, db *gorm.DB, leaf *Case) *gorm.DB) func(*world, *gorm.DB, *Case) (*Case, error) {
		return func(w *world, db *gorm.DB, leaf *Case) (*Case, error) { return leaf, change(w, db, leaf).Error }
	}
	moved := func(below string) func(*world, *gorm.DB, *Case) (*Case, error) {
		return func(w *world, db *gorm.DB, leaf *Case) (*Case, error) {
			into := new(Case)
			return into, gormplugin.Move(db, into, leaf.ID, w.build(below).ID)
		}
	}
	renamed := func(name string) func(*world, *gorm.DB, *Case) (*Case, error) {
		return func(_ *world, db *gorm.DB, leaf *Case) (*Case, error) {
			into := &Case{Path: "/what/was/here"}
			return into, gormplugin.Rename(db, into, leaf.ID, name)
		}
	}
	return []told{
		{"Create", func(w *world, db *gorm.DB, _ *Case) (*Case, error) {
			made := &Case{SuiteID: w.build("/d").ID, Name: "new", Path: "/what/was/here"}
			return made, db.Create(made).Error
		}, "/d/new"},
		{"Create below the root row", func(w *world, db *gorm.DB, _ *Case) (*Case, error) {
			made := &Case{SuiteID: w.root.ID, Name: "new"}
			return made, db.Create(made).Error
		}, "/new"},
		{"Create of several", func(w *world, db *gorm.DB, _ *Case) (*Case, error) {
			made := []Case{{SuiteID: w.root.ID, Name: "one"}, {SuiteID: w.build("/d").ID, Name: "two"}}
			err := db.Create(&made).Error
			return &made[1], err
		}, "/d/two"},
		{"Create from a map", func(w *world, db *gorm.DB, _ *Case) (*Case, error) {
			row := map[string]any{"suite_id": w.build("/d").ID, "name": "new"}
			return new(Case), db.Model(&Case{}).Create(row).Error
		}, ""},
		{"Save of a new one", func(w *world, db *gorm.DB, _ *Case) (*Case, error) {
			made := &Case{SuiteID: w.build("/d").ID, Name: "new"}
			return made, db.Save(made).Error
		}, "/d/new"},
		{"Rename", renamed("new"), "/a/b/new"},
		{"Rename to the name that it has", renamed("t"), "/a/b/t"},
		{"Move", moved("/d"), "/d/t"},
		{"Move to where it is", moved("/a/b"), "/a/b/t"},
		{"Copy", func(w *world, db *gorm.DB, leaf *Case) (*Case, error) {
			made := new(Case)
			_, err := gormplugin.Copy(db, made, leaf.ID, w.build("/d").ID, gormplugin.CopyAs("copy"))
			return made, err
		}, "/d/copy"},
		{"Update of the name", update(func(_ *world, db *gorm.DB, leaf *Case) *gorm.DB {
			return db.Model(leaf).Update("name", "new")
		}), "/a/b/new"},
		{"Updates from a map", update(func(w *world, db *gorm.DB, leaf *Case) *gorm.DB {
			return db.Model(leaf).Updates(map[string]any{"name": "new", "suite_id": w.build("/d").ID})
		}), "/d/new"},
		{"Updates from a struct, whose own path is none", update(func(w *world, db *gorm.DB, leaf *Case) *gorm.DB {
			return db.Model(leaf).Updates(&Case{SuiteID: w.build("/d").ID, Path: "/not/here"})
		}), "/d/t"},
		{"Save", update(func(w *world, db *gorm.DB, leaf *Case) *gorm.DB {
			leaf.SuiteID = w.build("/d").ID
			return db.Save(leaf)
		}), "/d/t"},
		{"Update of something else", update(func(_ *world, db *gorm.DB, leaf *Case) *gorm.DB {
			leaf.Path = "/as/it/was"
			return db.Model(leaf).Update("body", "new")
		}), "/as/it/was"},
		{"Take", update(func(_ *world, db *gorm.DB, leaf *Case) *gorm.DB {
			leaf.Path = "/as/it/was"
			return db.Take(leaf)
		}), "/as/it/was"},
	}
}

// checkLeafPaths checks that a leaf's field for its path is told where the leaf is, asserted or
// not.
func checkLeafPaths(t *testing.T, d Database) {
	for mode, options := range map[string][]gormplugin.Option{"asserted": nil, "not asserted": {gormplugin.WithoutAssertion()}} {
		for _, c := range toldPaths() {
			t.Run(mode+"/"+c.name, func(t *testing.T) {
				w := newWorld(t, d, settings{options: options})
				leaf := &Case{SuiteID: w.build("/a/b").ID, Name: "t"}
				w.must(w.db.Create(leaf).Error)
				into, err := c.do(w, w.db, &Case{ID: leaf.ID, SuiteID: leaf.SuiteID, Name: leaf.Name})
				w.must(err)
				if into.Path != c.want {
					t.Errorf("the path is told to be %q, want %q", into.Path, c.want)
				}
			})
		}
	}
	// What a request has read earlier is not what its answer says.
	for _, c := range []told{
		{"Create", func(w *world, db *gorm.DB, _ *Case) (*Case, error) {
			made := &Case{SuiteID: w.build("/z/b").ID, Name: "new"}
			return made, db.Create(made).Error
		}, "/z/b/new"},
		{"Rename", func(_ *world, db *gorm.DB, leaf *Case) (*Case, error) {
			into := new(Case)
			return into, gormplugin.Rename(db, into, leaf.ID, "new")
		}, "/z/b/new"},
	} {
		t.Run(c.name+" of what was moved since its ids were resolved", func(t *testing.T) {
			w := newWorld(t, d, settings{})
			b := w.build("/a/b")
			leaf := &Case{SuiteID: b.ID, Name: "t"}
			w.must(w.db.Create(leaf).Error)
			ctx := w.prepared()
			w.batch(&Suite{}).ResolveAll(ctx, []string{text(b.ID)})
			w.batch(&Case{}).ResolveAll(ctx, []string{text(leaf.ID)})
			w.must(gormplugin.Rename(w.db, &Suite{}, w.build("/a").ID, "z"))
			into, err := c.do(w, w.db.WithContext(ctx), leaf)
			w.must(err)
			if into.Path != c.want {
				t.Errorf("the path is told to be %q, want %q", into.Path, c.want)
			}
		})
	}
}
