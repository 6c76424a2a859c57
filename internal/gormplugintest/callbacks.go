package gormplugintest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// book is a tree of drafts, /a /a/b /c /c/b, by path.
type book map[string]*Draft

// newBook makes one.
func (w *world) newBook() book {
	w.Helper()
	made, tree := make(book), rand.Int64N(1<<50)
	for _, p := range []string{"/a", "/a/b", "/c", "/c/b"} {
		d := &Draft{BookID: tree, Name: p[strings.LastIndexByte(p, '/')+1:], Revision: 1}
		if above := made[p[:strings.LastIndexByte(p, '/')]]; above != nil {
			d.ParentID = &above.ID
		}
		w.must(w.db.Create(d).Error)
		made[p] = d
	}
	return made
}

// drafted checks a book.
func (w *world) drafted(b book, want string) {
	w.Helper()
	paths, found := w.tableOf(shape{model: Draft{}}).problems(w.db, b["/a"].BookID)
	if got := strings.Join(paths, " "); got != want || len(found) > 0 {
		w.Errorf("the tree is %s, want %s: %q", got, want, found)
	}
}

// hits checks how many rows a statement says it has changed.
func (w *world) hits(result *gorm.DB, want int64) {
	w.Helper()
	w.must(result.Error)
	if result.RowsAffected != want {
		w.Errorf("%d rows are affected, want %d", result.RowsAffected, want)
	}
}

// meddling is what another plugin's callback, or an optimistic lock, does to a write.
type meddling struct {
	name string
	// kind is the kind of callback, and meddle what it does right before GORM's own.
	kind   string
	meddle func(tx *gorm.DB)
	write  func(db *gorm.DB, b book) *gorm.DB
	// hits is how many rows the write says it has changed, err what it fails with.
	hits int64
	err  error
	// tree is what there is then; empty where it stays as it was.
	tree string
}

const bookTree = "/a /a/b /c /c/b"

// meddlings are those that decide which rows a write hits, and what it writes.
func meddlings() []meddling {
	only := func(condition string) func(tx *gorm.DB) {
		return func(tx *gorm.DB) {
			tx.Statement.AddClause(clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: condition}}})
		}
	}
	rename := func(db *gorm.DB, b book) *gorm.DB {
		return db.Model(&Draft{}).Where("id IN ?", []int64{b["/a"].ID, b["/c"].ID}).Update("name", "z")
	}
	all := []meddling{
		{name: "a condition that no row meets", kind: "update", meddle: only("1 = 0"), write: rename},
		{name: "a condition that some rows meet", kind: "update", meddle: only("name = 'c'"), write: rename, hits: 1, tree: "/a /a/b /z /z/b"},
		{name: "a condition on deletions", kind: "delete", meddle: only("1 = 0"), write: func(db *gorm.DB, b book) *gorm.DB { return db.Delete(&Draft{}, b["/a"].ID) }},
		{name: "a name for new rows", kind: "create", meddle: func(tx *gorm.DB) { tx.Statement.SetColumn("Name", "named", true) }, write: func(db *gorm.DB, b book) *gorm.DB {
			return db.Create(&Draft{ParentID: &b["/a"].ID, Name: "x"})
		}, hits: 1, tree: "/a /a/b /a/named /c /c/b"},
		{name: "a name for old rows", kind: "update", meddle: func(tx *gorm.DB) { tx.Statement.SetColumn("name", "named", true) }, write: func(db *gorm.DB, b book) *gorm.DB {
			return db.Model(&Draft{}).Where("id = ?", b["/a"].ID).Updates(map[string]any{"note": "n"})
		}, hits: 1, tree: "/c /c/b /named /named/b"},
	}
	for _, values := range []map[string]any{{"name": "z"}, {"note": "lost"}, {"name": "a", "note": "lost"}} {
		all = append(all, meddling{name: fmt.Sprint("a stale revision, Updates of ", values), write: func(db *gorm.DB, b book) *gorm.DB {
			return db.Model(b["stale"]).Updates(values)
		}})
	}
	for column, change := range map[string]func(d *Draft, b book){"name": func(d *Draft, _ book) { d.Name = "z" }, "parent": func(d *Draft, b book) { d.ParentID = &b["/c"].ID }} {
		all = append(all, meddling{name: "a stale revision, Save of another " + column, err: gormplugin.ErrStale, write: func(db *gorm.DB, b book) *gorm.DB {
			saved := *b["stale"]
			change(&saved, b)
			return db.Save(&saved)
		}})
	}
	return append(all, meddling{name: "a stale revision, Save of an outdated path", err: gormplugin.ErrStale, tree: "/c /c/b /y /y/b", write: func(db *gorm.DB, b book) *gorm.DB {
		_ = db.Model(&Draft{}).Where("id = ?", b["/a"].ID).Update("name", "y")
		return db.Save(b["stale"])
	}})
}

// checkCallbacks checks what other plugins' callbacks do to a write, alone and in a transaction.
func checkCallbacks(t *testing.T, d Database) {
	for _, c := range meddlings() {
		for _, within := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in a transaction: %t", c.name, within), func(t *testing.T) {
				w := newWorld(t, d, settings{})
				b := w.newBook()
				stale := *b["/a"]
				w.hits(w.db.Model(b["/a"]).Updates(map[string]any{"note": "changed"}), 1)
				b["stale"] = &stale
				if c.kind != "" {
					w.must(w.before(c.kind, c.meddle))
				}
				db := w.db
				if within {
					db = db.Begin()
				}
				result := c.write(db.Session(&gorm.Session{}), b)
				if w.isA(result.Error, c.err); c.err == nil && result.RowsAffected != c.hits {
					t.Errorf("%d rows are affected, want %d", result.RowsAffected, c.hits)
				}
				if within {
					w.must(db.Commit().Error)
				}
				if c.tree == "" {
					c.tree = bookTree
				}
				w.drafted(b, c.tree)
			})
		}
	}
	t.Run("the plugin's own statements are nobody's business", func(t *testing.T) {
		w := newWorld(t, d, settings{})
		b := w.newBook()
		var seen []string
		for _, kind := range []string{"create", "update", "delete", "query", "row", "raw"} {
			w.must(w.before(kind, func(*gorm.DB) { seen = append(seen, kind) }))
		}
		w.must(gormplugin.Rename(w.db, &Draft{}, b["/a"].ID, "z"))
		w.must(gormplugin.Move(w.db, &Draft{}, b["/a/b"].ID, gormplugin.Below(b["/c/b"].ID)))
		w.must(w.db.Create(&Draft{ParentID: &b["/c"].ID, Name: "new"}).Error)
		_, copied := gormplugin.Copy(w.db, &Draft{}, b["/c"].ID, gormplugin.Below(b["/a"].ID))
		_, deleted := gormplugin.Delete(w.db, &Draft{}, b["/c"].ID)
		_, resolved := gormplugin.Resolve(w.db, &Draft{}, b["/a"].ID)
		w.must(errors.Join(copied, deleted, resolved))
		if got := strings.Join(seen, " "); got != "update update create delete" {
			t.Errorf("callbacks have seen: %s", got)
		}
		w.drafted(b, "/z /z/c /z/c/b /z/c/b/b /z/c/new")
	})
	for _, how := range []string{"replaced", "a callback builds the SQL"} {
		t.Run("GORM's callbacks: "+how, func(t *testing.T) { checkReplaced(t, d, how == "replaced") })
	}
}

// before registers a callback right before GORM's own of a kind.
func (w *world) before(kind string, fn func(*gorm.DB)) error {
	cb, name := w.db.Callback(), "gorm:"+kind
	return map[string]func() error{
		"create": func() error { return cb.Create().Before(name).Register("test:callback", fn) },
		"update": func() error { return cb.Update().Before(name).Register("test:callback", fn) },
		"delete": func() error { return cb.Delete().Before(name).Register("test:callback", fn) },
		"query":  func() error { return cb.Query().Before(name).Register("test:callback", fn) },
		"row":    func() error { return cb.Row().Before(name).Register("test:callback", fn) },
		"raw":    func() error { return cb.Raw().Before(name).Register("test:callback", fn) },
	}[kind]()
}

// checkReplaced takes GORM's writing callbacks away from the plugin: guarded tables are not
// written.
func checkReplaced(t *testing.T, d Database, replaced bool) {
	w := newWorld(t, d, settings{})
	b := w.newBook()
	cb := w.db.Callback()
	if replaced {
		create, update, remove := cb.Create().Get("gorm:create"), cb.Update().Get("gorm:update"), cb.Delete().Get("gorm:delete")
		w.must(cb.Create().Replace("gorm:create", func(db *gorm.DB) { create(db) }))
		w.must(cb.Update().Replace("gorm:update", func(db *gorm.DB) { update(db) }))
		w.must(cb.Delete().Replace("gorm:delete", func(db *gorm.DB) { remove(db) }))
	} else {
		for _, kind := range []string{"create", "update", "delete"} {
			w.must(w.before(kind, func(db *gorm.DB) {
				if db.Statement.Schema.Table == "drafts" {
					fmt.Fprintf(&db.Statement.SQL, "UPDATE drafts SET name = 'raw' WHERE id = %d", b["/a"].ID)
				}
			}))
		}
	}
	at := w.db.Model(&Draft{}).Where("id = ?", b["/a"].ID).Session(&gorm.Session{})
	for _, err := range []error{
		w.db.Create(&Draft{ParentID: &b["/a"].ID, Name: "new"}).Error, at.Update("name", "z").Error, at.Update("note", "z").Error, w.db.Delete(&Draft{}, b["/a"].ID).Error,
	} {
		w.fails(err, gormplugin.ErrCallbacks)
	}
	w.must(w.db.Create(&Other{Name: "not guarded"}).Error)
	w.drafted(b, bookTree)
}
