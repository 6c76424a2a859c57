package gormplugintest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// card is a row with associations, a mark of deletion, and a column of the application's own that
// GORM keeps unique by a constraint.
type card struct {
	ID       int64
	ParentID *int64  `pathlock:"parent" gorm:"uniqueIndex:card_sibling"`
	Above    *card   `gorm:"foreignKey:ParentID"`
	Children []card  `gorm:"foreignKey:ParentID"`
	Name     string  `pathlock:"name" gorm:"size:100;uniqueIndex:card_sibling"`
	Path     string  `pathlock:"path" gorm:"size:500"`
	Code     *string `gorm:"size:20;unique"`
	Title    *string `gorm:"size:20"`
	Deleted  gorm.DeletedAt
}

// cardWorld makes a table of cards with the rows of the paths.
func cardWorld(t *testing.T, d Database, config gorm.Config, paths ...string) *world {
	t.Helper()
	w := machineWorld(t, d, settings{config: config}, []gormplugin.Option{gormplugin.Model(&card{}, gormplugin.SingleTree("cards"))})
	w.must(w.db.AutoMigrate(&card{}))
	t.Cleanup(func() { w.must(w.db.Migrator().DropTable(&card{})) })
	w.ids = make(map[string]int64)
	for _, path := range paths {
		c := &card{Name: path[strings.LastIndex(path, "/")+1:]}
		if above := w.ids[strings.TrimSuffix(path, "/"+c.Name)]; above != 0 {
			c.ParentID = &above
		}
		w.must(w.db.Create(c).Error)
		w.ids[path] = c.ID
	}
	return w
}

// card returns a row with its associations.
func (w *world) card(path string) *card {
	w.Helper()
	c := new(card)
	w.must(w.db.Preload("Above").Preload("Children").Take(c, w.ids[path]).Error)
	return c
}

// cards checks the paths of the live rows.
func (w *world) cards(want ...string) {
	w.Helper()
	var got []string
	w.must(w.db.Model(&card{}).Pluck("path", &got).Error)
	if slices.Sort(got); !slices.Equal(got, want) {
		w.Errorf("the tree is %q, want %q", got, want)
	}
}

// checkSaves checks Saves in transactions of their own, and what they do to associations.
func checkSaves(t *testing.T, d Database) {
	full := func(w *world) *gorm.DB { return w.db.Session(&gorm.Session{FullSaveAssociations: true}) }
	run := func(name string, check func(w *world)) {
		t.Run(name, func(t *testing.T) {
			w := cardWorld(t, d, gorm.Config{}, "/a", "/a/b", "/a/c")
			w.meddles()
			check(w)
			w.nothingHeld()
		})
	}
	run("an unchanged row and a renamed one above", func(w *world) {
		b := w.card("/a/b")
		b.Above.Name = "x"
		w.must(full(w).Save(b).Error)
		w.cards("/x", "/x/b", "/x/c")
		if b.Path != "/x/b" {
			t.Errorf("the struct has the path %q", b.Path)
		}
	})
	run("a row that is missed and a renamed one above", func(w *world) {
		for _, name := range []string{"b", "y"} {
			b := w.card("/a/b")
			b.Above.Name, b.Name = "x", name
			missed := func(tx *gorm.DB) {
				if tx.Statement.Dest == any(b) {
					tx.Statement.AddClause(clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "1 = 0"}}})
				}
			}
			w.isA(full(w).Set(meddling, missed).Save(b).Error, gormplugin.ErrStale)
			w.cards("/a", "/a/b", "/a/c")
		}
	})
	run("a deleted row and a renamed one above", func(w *world) {
		b := w.card("/a/b")
		w.must(w.db.Delete(&card{}, b.ID).Error)
		b.Above.Name = "x"
		w.isA(full(w).Save(b).Error, gormplugin.ErrStale)
		w.cards("/a", "/a/c")
	})
	run("a row that is not there and a renamed one above", func(w *world) {
		b := w.card("/a/b")
		b.ID, b.Name, b.Above.Name = 1<<40, "new", "x"
		w.must(full(w).Save(b).Error)
		w.cards("/x", "/x/b", "/x/c", "/x/new")
	})
	run("a row that has got its name since the request has read it", func(w *world) {
		for i, save := range []func(db *gorm.DB, b *card) error{
			func(db *gorm.DB, b *card) error { return db.Save(b).Error },
			func(db *gorm.DB, b *card) error {
				return db.Transaction(func(tx *gorm.DB) error { return tx.Save(b).Error })
			},
		} {
			b, resolver := w.card("/a/b"), w.plugin.Resolver(&card{}).(preparer)
			ctx := resolver.Prepare(w.Context())
			_, err := resolver.Resolve(ctx, fmt.Sprint(b.ID))
			w.must(err)
			b.Name, b.Above = fmt.Sprint("x", i), nil
			w.must(gormplugin.Rename(w.db, &card{}, b.ID, b.Name))
			w.must(save(w.db.WithContext(ctx), b))
			if b.Path != "/a/"+b.Name {
				t.Errorf("the struct of %s has the path %q", b.Name, b.Path)
			}
		}
	})
	run("a child with a name that is taken", func(w *world) {
		a := w.card("/a")
		a.Name = "x"
		a.Children = slices.DeleteFunc(a.Children, func(c card) bool { return c.Name != "b" })
		a.Children[0].Name = "c"
		err := full(w).Save(a).Error
		w.namesTaken(err, "/x/c")
		w.cards("/a", "/a/b", "/a/c")
	})
}

// namesTaken checks that an error says once that the slot of the path is taken.
func (w *world) namesTaken(err error, path string) {
	w.Helper()
	if taken, ok := errors.AsType[*gormplugin.NameTakenError](err); !ok || taken.Path.String() != path || strings.Count(err.Error(), "name taken") != 1 {
		w.Errorf("got the error %v, want one that says once that the name of %s is taken", err, path)
	}
}
