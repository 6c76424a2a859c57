package gormplugintest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// draftsAt makes drafts, the top one first, in a tree of their own, and returns them by path.
func (w *world) draftsAt(paths ...string) map[string]*Draft {
	w.Helper()
	made := make(map[string]*Draft)
	tree := rand.Int64N(1 << 50)
	for _, p := range paths {
		d := &Draft{BookID: tree, Name: p[strings.LastIndexByte(p, '/')+1:], Revision: 1}
		if above := made[p[:strings.LastIndexByte(p, '/')]]; above != nil {
			d.ParentID = &above.ID
		}
		w.must(w.db.Create(d).Error)
		made[p] = d
	}
	return made
}

// drafted checks the rows of the book that a draft is in.
func (w *world) drafted(d *Draft, want ...string) {
	w.Helper()
	paths, found := drafts.problems(w.db, d.BookID)
	slices.Sort(paths)
	if got := strings.Join(paths, " "); got != strings.Join(want, " ") {
		w.Errorf("the tree is %s, want %s", got, strings.Join(want, " "))
	}
	for _, problem := range found {
		w.Error(problem)
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

// wayChecks repeats a check on a DB outside of any transaction and in one that is committed.
func wayChecks(name string, run func(w *world, do func(func(db *gorm.DB)))) []check {
	return []check{
		{name, func(w *world) { run(w, func(do func(*gorm.DB)) { do(w.db) }) }},
		{name + ", in a transaction", func(w *world) {
			run(w, func(do func(*gorm.DB)) {
				w.must(w.db.Transaction(func(tx *gorm.DB) error {
					do(tx)
					return nil
				}))
			})
		}},
	}
}

// callbackChecks are about what other plugins do to a statement, whenever they were registered.
func callbackChecks() []check {
	none := clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "1 = 0"}}}
	var checks []check
	add := func(name string, run func(w *world, do func(func(db *gorm.DB)))) {
		checks = append(checks, wayChecks(name, run)...)
	}
	add("a stale revision changes nothing", func(w *world, do func(func(*gorm.DB))) {
		rows := w.draftsAt("/a", "/a/b", "/c")
		stale := *rows["/a"]
		w.hits(w.db.Model(rows["/a"]).Updates(map[string]any{"note": "changed"}), 1)
		do(func(db *gorm.DB) {
			w.hits(db.Model(&stale).Updates(map[string]any{"name": "z"}), 0)
			w.hits(db.Model(&stale).Updates(map[string]any{"parent_id": rows["/c"].ID}), 0)
			w.hits(db.Model(&stale).Updates(map[string]any{"note": "lost"}), 0)
			w.hits(db.Model(&stale).Updates(map[string]any{"name": "a", "note": "lost"}), 0)
		})
		w.drafted(rows["/a"], "/a", "/a/b", "/c")
	})
	add("a Save with a stale revision that would change the place", func(w *world, do func(func(*gorm.DB))) {
		rows := w.draftsAt("/a", "/a/b", "/c")
		stale := *rows["/a"]
		w.hits(w.db.Model(rows["/a"]).Updates(map[string]any{"note": "changed"}), 1)
		renamed, moved := stale, stale
		renamed.Name, moved.ParentID = "z", &rows["/c"].ID
		do(func(db *gorm.DB) {
			for _, saved := range []*Draft{&renamed, &moved} {
				if err := db.Save(saved).Error; !errors.Is(err, gormplugin.ErrStale) {
					w.Errorf("got the error %v", err)
				}
			}
		})
		w.drafted(rows["/a"], "/a", "/a/b", "/c")
	})
	add("a Save with a stale revision of a row that has changed its place", func(w *world, do func(func(*gorm.DB))) {
		rows := w.draftsAt("/a", "/a/b", "/c")
		stale := *rows["/a"]
		now := stale
		w.hits(w.db.Model(&now).Updates(map[string]any{"name": "z"}), 1)
		noted, renamed, moved := stale, stale, stale
		noted.Note, renamed.Name, moved.ParentID = "n", "y", &rows["/c"].ID
		do(func(db *gorm.DB) {
			for _, saved := range []*Draft{&noted, &renamed, &moved} {
				if err := db.Save(saved).Error; !errors.Is(err, gormplugin.ErrStale) {
					w.Errorf("got the error %v", err)
				}
			}
		})
		w.drafted(rows["/c"], "/c", "/z", "/z/b")
	})
	add("a condition on updates that a later callback adds", func(w *world, do func(func(*gorm.DB))) {
		rows := w.draftsAt("/a", "/a/b", "/c")
		w.must(w.db.Callback().Update().Before("gorm:update").Register("tenant", func(db *gorm.DB) { db.Statement.AddClause(none) }))
		do(func(db *gorm.DB) {
			w.hits(db.Model(&Draft{}).Where("id = ?", rows["/a"].ID).Update("name", "z"), 0)
			w.hits(db.Model(&Draft{}).Where("book_id = ?", rows["/a"].BookID).Update("name", "z"), 0)
		})
		w.drafted(rows["/a"], "/a", "/a/b", "/c")
	})
	add("a condition that leaves some of the rows", func(w *world, do func(func(*gorm.DB))) {
		rows := w.draftsAt("/a", "/a/x", "/b", "/b/x")
		some := clause.Where{Exprs: []clause.Expression{clause.Eq{Column: "name", Value: "b"}}}
		w.must(w.db.Callback().Update().Before("gorm:update").Register("tenant", func(db *gorm.DB) { db.Statement.AddClause(some) }))
		do(func(db *gorm.DB) {
			w.hits(db.Model(&Draft{}).Where("id IN ?", []int64{rows["/a"].ID, rows["/b"].ID}).Update("name", "z"), 1)
		})
		w.drafted(rows["/a"], "/a", "/a/x", "/z", "/z/x")
	})
	add("a condition on deletions that a later callback adds", func(w *world, do func(func(*gorm.DB))) {
		rows := w.draftsAt("/a", "/a/b")
		w.must(w.db.Callback().Delete().Before("gorm:delete").Register("tenant", func(db *gorm.DB) { db.Statement.AddClause(none) }))
		do(func(db *gorm.DB) { w.hits(db.Delete(&Draft{}, rows["/a"].ID), 0) })
		w.drafted(rows["/a"], "/a", "/a/b")
	})
	add("a name that a later callback gives new rows", func(w *world, do func(func(*gorm.DB))) {
		rows := w.draftsAt("/a")
		w.must(w.db.Callback().Create().Before("gorm:create").Register("namer", func(db *gorm.DB) { db.Statement.SetColumn("Name", "named", true) }))
		do(func(db *gorm.DB) { w.must(db.Create(&Draft{ParentID: &rows["/a"].ID, Name: "x"}).Error) })
		w.drafted(rows["/a"], "/a", "/a/named")
	})
	add("a name that a later callback gives rows that are updated", func(w *world, do func(func(*gorm.DB))) {
		rows := w.draftsAt("/a", "/a/b")
		w.must(w.db.Callback().Update().Before("gorm:update").Register("namer", func(db *gorm.DB) { db.Statement.SetColumn("name", "named", true) }))
		do(func(db *gorm.DB) {
			w.hits(db.Model(&Draft{}).Where("id = ?", rows["/a"].ID).Updates(map[string]any{"note": "n"}), 1)
		})
		w.drafted(rows["/a"], "/named", "/named/b")
	})
	add("the plugin's own statements are nobody's business", func(w *world, do func(func(*gorm.DB))) {
		rows := w.draftsAt("/a", "/a/b", "/a/b/c", "/d")
		var seen []string
		see := func(kind string) func(*gorm.DB) { return func(*gorm.DB) { seen = append(seen, kind) } }
		cb := w.db.Callback()
		w.must(cb.Create().Before("gorm:create").Register("see", see("create")))
		w.must(cb.Update().Before("gorm:update").Register("see", see("update")))
		w.must(cb.Delete().Before("gorm:delete").Register("see", see("delete")))
		w.must(cb.Query().Before("gorm:query").Register("see", see("query")))
		w.must(cb.Row().Before("gorm:row").Register("see", see("row")))
		w.must(cb.Raw().Before("gorm:raw").Register("see", see("raw")))
		do(func(db *gorm.DB) {
			w.must(gormplugin.Rename(db, &Draft{}, rows["/a"].ID, "z"))
			w.must(gormplugin.Move(db, &Draft{}, rows["/a/b"].ID, gormplugin.Below(rows["/d"].ID)))
			w.must(db.Create(&Draft{ParentID: &rows["/d"].ID, Name: "new"}).Error)
			_, err := gormplugin.Copy(db, &Draft{}, rows["/d"].ID, gormplugin.Below(rows["/a"].ID))
			w.must(err)
			_, err = gormplugin.Delete(db, &Draft{}, rows["/d"].ID)
			w.must(err)
			_, err = gormplugin.Resolve(db, &Draft{}, rows["/a"].ID)
			w.must(err)
		})
		if got := strings.Join(seen, " "); got != "update update create delete" {
			w.Errorf("callbacks have seen: %s", got)
		}
		seen = nil
		w.drafted(rows["/a"], "/z", "/z/d", "/z/d/b", "/z/d/b/c", "/z/d/new")
	})
	return append(checks, replacedChecks()...)
}

// replacedChecks are about plugins that take GORM's writing callbacks away.
func replacedChecks() []check {
	writes := []struct {
		name  string
		write func(db *gorm.DB, d *Draft) error
	}{
		{"create", func(db *gorm.DB, d *Draft) error { return db.Create(&Draft{ParentID: &d.ID, Name: "new"}).Error }},
		{"update", func(db *gorm.DB, d *Draft) error {
			return db.Model(&Draft{}).Where("id = ?", d.ID).Update("name", "z").Error
		}},
		{"update of a note", func(db *gorm.DB, d *Draft) error {
			return db.Model(&Draft{}).Where("id = ?", d.ID).Update("note", "z").Error
		}},
		{"delete", func(db *gorm.DB, d *Draft) error { return db.Delete(&Draft{}, d.ID).Error }},
	}
	var checks []check
	for _, c := range writes {
		checks = append(checks,
			check{c.name + ": GORM's callback is replaced later", func(w *world) {
				rows := w.draftsAt("/a", "/a/b")
				cb := w.db.Callback()
				create, update, remove := cb.Create().Get("gorm:create"), cb.Update().Get("gorm:update"), cb.Delete().Get("gorm:delete")
				w.must(cb.Create().Replace("gorm:create", func(db *gorm.DB) { create(db) }))
				w.must(cb.Update().Replace("gorm:update", func(db *gorm.DB) { update(db) }))
				w.must(cb.Delete().Replace("gorm:delete", func(db *gorm.DB) { remove(db) }))
				w.fails(c.write(w.db, rows["/a"]), gormplugin.ErrCallbacks)
				w.must(w.db.Create(&Other{Name: "not guarded"}).Error)
				w.drafted(rows["/a"], "/a", "/a/b")
			}},
			check{c.name + ": a callback builds the SQL", func(w *world) {
				rows := w.draftsAt("/a", "/a/b")
				build := func(db *gorm.DB) {
					if db.Statement.Schema != nil && db.Statement.Schema.Table == "drafts" {
						fmt.Fprintf(&db.Statement.SQL, "UPDATE drafts SET name = 'raw' WHERE id = %d", rows["/a"].ID)
					}
				}
				cb := w.db.Callback()
				w.must(cb.Create().Before("gorm:create").Register("build", build))
				w.must(cb.Update().Before("gorm:update").Register("build", build))
				w.must(cb.Delete().Before("gorm:delete").Register("build", build))
				w.fails(c.write(w.db, rows["/a"]), gormplugin.ErrCallbacks)
				w.drafted(rows["/a"], "/a", "/a/b")
			}},
		)
	}
	return checks
}
