package gormplugintest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// hits checks how many rows a statement says it has changed.
func (w *world) hits(result *gorm.DB, want int64) {
	w.Helper()
	w.must(result.Error)
	if result.RowsAffected != want {
		w.Errorf("%d rows are affected, want %d", result.RowsAffected, want)
	}
}

// before registers a callback right before GORM's own of a kind.
func (w *world) before(kind string, fn func(*gorm.DB)) {
	w.Helper()
	cb, name := w.db.Callback(), "gorm:"+kind
	w.must(map[string]func() error{
		"create": func() error { return cb.Create().Before(name).Register("test:callback", fn) },
		"update": func() error { return cb.Update().Before(name).Register("test:callback", fn) },
		"delete": func() error { return cb.Delete().Before(name).Register("test:callback", fn) },
		"query":  func() error { return cb.Query().Before(name).Register("test:callback", fn) },
		"row":    func() error { return cb.Row().Before(name).Register("test:callback", fn) },
		"raw":    func() error { return cb.Raw().Before(name).Register("test:callback", fn) },
	}[kind]())
}

// meddling is the setting of a session with what another plugin's callback does to its statements.
const meddling = "test:meddling"

// meddles registers that callback.
func (w *world) meddles() {
	w.Helper()
	for _, kind := range []string{"create", "update", "delete"} {
		w.before(kind, func(tx *gorm.DB) {
			if value, ok := tx.Get(meddling); ok {
				if meddle, ok := value.(func(*gorm.DB)); ok {
					meddle(tx)
				}
			}
		})
	}
}

// callbackForms are writes of which other plugins' callbacks decide which rows they hit, and what
// they write.
func callbackForms() []form {
	// only adds a condition, as a tenant and an optimistic lock do.
	only := func(tx *gorm.DB, condition string) *gorm.DB {
		return tx.Set(meddling, func(tx *gorm.DB) {
			tx.Statement.AddClause(clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: condition}}})
		})
	}
	named := func(tx *gorm.DB) *gorm.DB {
		return tx.Set(meddling, func(tx *gorm.DB) { tx.Statement.SetColumn("Name", "named", true) })
	}
	hit := func(want int64, write func(w *world, tx *gorm.DB) *gorm.DB) func(w *world, tx *gorm.DB) error {
		return func(w *world, tx *gorm.DB) error {
			result := write(w, tx)
			w.hits(result, want)
			return result.Error
		}
	}
	at := func(w *world, tx *gorm.DB, paths ...string) *gorm.DB {
		var ids []int64
		for _, path := range paths {
			ids = append(ids, w.ids[path])
		}
		return tx.Model(&Suite{}).Where("id IN ?", ids)
	}
	return []form{
		{name: "a callback's condition that no row meets: rename", write: hit(0, func(w *world, tx *gorm.DB) *gorm.DB {
			return at(w, only(tx, "1 = 0"), "/a", "/d").Updates(map[string]any{"name": "z", "note": "n"})
		})},
		{name: "a callback's condition that some rows meet", tree: "/a /a/b /a/b/c /z /z/e", write: hit(1, func(w *world, tx *gorm.DB) *gorm.DB {
			return at(w, only(tx, "name = 'd'"), "/a", "/d").Update("name", "z")
		})},
		{name: "a callback's condition that no row meets: delete", write: hit(0, func(w *world, tx *gorm.DB) *gorm.DB {
			return at(w, only(tx, "1 = 0"), "/a").Delete(&Suite{})
		})},
		{name: "a callback's name for a new row", tree: suiteTree + " /d/named", write: hit(1, func(w *world, tx *gorm.DB) *gorm.DB {
			return named(tx).Create(&Suite{ParentID: w.parent("/d"), Name: "x"})
		})},
		{name: "a callback's name for an old row", tree: "/a /a/b /a/b/c /named /named/e", write: hit(1, func(w *world, tx *gorm.DB) *gorm.DB {
			return at(w, named(tx), "/d").Updates(map[string]any{"note": "n"})
		})},
		{name: "a callback's name for rows that are arranged", refused: gormplugin.ErrUnsupported, write: func(w *world, tx *gorm.DB) error {
			return gormplugin.Arrange(named(tx), []Suite{{ID: w.ids["/a"], ParentID: w.parent("/d")}})
		}},
		{name: "a callback's SQL", refused: gormplugin.ErrCallbacks, write: func(w *world, tx *gorm.DB) error {
			return at(w, tx.Set(meddling, func(tx *gorm.DB) {
				fmt.Fprintf(&tx.Statement.SQL, "UPDATE suites SET name = 'raw' WHERE id = %d", w.ids["/a"])
			}), "/a").Update("note", "n").Error
		}},
		{name: "a stale version, Save of another name", refused: gormplugin.ErrStale, write: func(w *world, tx *gorm.DB) error {
			a := w.at("/a")
			a.Name = "z"
			return only(tx, "1 = 0").Save(a).Error
		}},
		{name: "a stale version, Save of an outdated path", tree: "/d /d/e /z /z/b /z/b/c", write: func(w *world, tx *gorm.DB) error {
			a := w.at("/a")
			w.must(at(w, tx, "/a").Update("name", "z").Error)
			w.isA(only(tx, "1 = 0").Save(a).Error, gormplugin.ErrStale)
			return nil
		}},
	}
}

// checkCallbacks checks that the plugin's own statements are nobody's business, and that guarded
// tables are not written where somebody has replaced GORM's callbacks.
func checkCallbacks(t *testing.T, d Database) {
	t.Run("seen", func(t *testing.T) {
		w := newWorld(t, d, settings{})
		a, b, c := w.build("/a"), w.build("/a/b"), w.build("/c")
		var seen []string
		for _, kind := range []string{"create", "update", "delete", "query", "row", "raw"} {
			w.before(kind, func(*gorm.DB) { seen = append(seen, kind) })
		}
		w.must(gormplugin.Rename(w.db, &Suite{}, a.ID, "z"))
		w.must(gormplugin.Move(w.db, &Suite{}, b.ID, gormplugin.Below(c.ID)))
		w.must(w.db.Create(&Suite{ParentID: &c.ID, Name: "new"}).Error)
		_, copied := gormplugin.Copy(w.db, &Suite{}, c.ID, gormplugin.Below(a.ID))
		_, deleted := gormplugin.Delete(w.db, &Suite{}, c.ID)
		_, resolved := gormplugin.Resolve(w.db, &Suite{}, a.ID)
		w.must(errors.Join(copied, deleted, resolved))
		if got := strings.Join(seen, " "); got != "update update create delete" {
			t.Errorf("callbacks have seen: %s", got)
		}
	})
	t.Run("replaced", func(t *testing.T) {
		w := newWorld(t, d, settings{})
		a, cb := w.build("/a"), w.db.Callback()
		create, update, remove := cb.Create().Get("gorm:create"), cb.Update().Get("gorm:update"), cb.Delete().Get("gorm:delete")
		w.must(cb.Create().Replace("gorm:create", func(db *gorm.DB) { create(db) }))
		w.must(cb.Update().Replace("gorm:update", func(db *gorm.DB) { update(db) }))
		w.must(cb.Delete().Replace("gorm:delete", func(db *gorm.DB) { remove(db) }))
		w.fails(w.db.Create(&Suite{ParentID: &a.ID, Name: "new"}).Error, gormplugin.ErrCallbacks)
		w.fails(w.db.Model(a).Update("name", "z").Error, gormplugin.ErrCallbacks)
		w.fails(w.db.Delete(a).Error, gormplugin.ErrCallbacks)
		w.must(w.db.Create(&Other{Name: "not guarded"}).Error)
		w.has("/a")
	})
}
