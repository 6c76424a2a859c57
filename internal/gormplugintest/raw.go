package gormplugintest

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// rawForms are the ways in which GORM runs raw SQL. Each returns the statement's error.
var rawForms = []struct {
	name string
	// reads is set for the forms that need a result.
	reads bool
	run   func(tx *gorm.DB, sql string, args ...any) error
}{
	{"Exec", false, func(tx *gorm.DB, sql string, args ...any) error { return tx.Exec(sql, args...).Error }},
	{"Raw.Scan", true, func(tx *gorm.DB, sql string, args ...any) error {
		var id int64
		return tx.Raw(sql, args...).Scan(&id).Error
	}},
	{"Raw.Find", true, func(tx *gorm.DB, sql string, args ...any) error {
		var found []Suite
		return tx.Raw(sql, args...).Find(&found).Error
	}},
	{"Raw.Row", true, func(tx *gorm.DB, query string, args ...any) error {
		var id sql.NullInt64
		return tx.Raw(query, args...).Row().Scan(&id)
	}},
	{"Raw.Rows", true, func(tx *gorm.DB, sql string, args ...any) error {
		rows, err := tx.Raw(sql, args...).Rows()
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		return rows.Err()
	}},
	{"G.Exec", false, func(tx *gorm.DB, sql string, args ...any) error {
		return gorm.G[Suite](tx).Exec(tx.Statement.Context, sql, args...)
	}},
	{"G.Raw.Row", true, func(tx *gorm.DB, query string, args ...any) error {
		var id sql.NullInt64
		return gorm.G[Suite](tx).Raw(query, args...).Row(tx.Statement.Context).Scan(&id)
	}},
	{"G.Raw.Find", true, func(tx *gorm.DB, sql string, args ...any) error {
		_, err := gorm.G[Suite](tx).Raw(sql, args...).Find(tx.Statement.Context)
		return err
	}},
}

func rawChecks() []check {
	return []check{
		{"raw SQL that writes a guarded table is refused, in every form, and nothing is written", func(w *world) {
			a := w.build("/a")
			for _, form := range rawForms {
				for _, sql := range []string{
					"UPDATE suites SET name = 'x' WHERE id = ?",
					"\n-- a comment\nupdate suites set name = 'x' where id = ?",
					"DELETE FROM suites WHERE id = ?",
					"SELECT 1; DELETE FROM suites WHERE id = ?",
					"INSERT INTO suites (plan_id, name, path) SELECT plan_id, 'x', '/x' FROM suites WHERE id = ?",
					"DELETE FROM cases WHERE suite_id = ?",
				} {
					err := form.run(w.db, sql, a.ID)
					w.fails(err, gormplugin.ErrUnsupported)
					refused, ok := isRefused(err)
					if !ok || !strings.Contains(sql, refused.Table) || !strings.Contains(strings.ToUpper(sql), refused.Statement) {
						w.Errorf("%s: %q: got %v", form.name, sql, err)
					}
				}
			}
			w.has("/a")
		}},
		{"raw SQL that only reads, or writes elsewhere, passes", func(w *world) {
			a := w.build("/a")
			for _, form := range rawForms {
				w.must(form.run(w.db, "SELECT id FROM suites WHERE id = ? AND name <> 'UPDATE suites SET'", a.ID))
				if !form.reads {
					w.must(form.run(w.db, "UPDATE others SET name = 'suites' WHERE id IN (SELECT id FROM suites WHERE id = ?)", -a.ID))
					w.must(form.run(w.db, "INSERT INTO others (name) SELECT name FROM suites WHERE id = ?", a.ID))
				}
			}
		}},
		{"raw writes are allowed per call", func(w *world) {
			a := w.build("/a")
			raw := gormplugin.AllowRawWrites(w.db)
			for range 2 {
				w.must(raw.Exec("UPDATE suites SET note = 'x' WHERE id = ?", a.ID).Error)
			}
			w.must(raw.Transaction(func(tx *gorm.DB) error {
				return tx.Exec("UPDATE suites SET note = 'y' WHERE id = ?", a.ID).Error
			}))
			w.fails(w.db.Exec("UPDATE suites SET note = 'z' WHERE id = ?", a.ID).Error, gormplugin.ErrUnsupported)
			w.fails(raw.Model(&Suite{ID: a.ID}).Update("name", gorm.Expr("'x'")).Error, gormplugin.ErrUnsupported)
		}},
		{"a rewrite of a subtree by raw SQL, under its locks", func(w *world) {
			w.build("/a/b")
			a := w.build("/a")
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				at, err := gormplugin.LockSubtrees(tx, &Suite{}, a.ID)
				w.must(err)
				if w.held() != "X /a" || at[0].Path.String() != "/a" || at[0].Tree != w.tree() {
					w.Errorf("%v holds %s", at, w.held())
				}
				return gormplugin.AllowRawWrites(tx).Exec("UPDATE suites SET note = 'x' WHERE plan_id = ? AND path >= '/a/' AND path < '/a0'", w.root.PlanID).Error
			}))
			if got := w.build("/a/b").Note; got != "x" {
				w.Errorf("the note is %q", got)
			}
		}},
		{"LockSubtrees waits for nobody for longer than a write would", func(w *world) {
			a := w.build("/a/b")
			defer w.holding("/a")()
			tx := w.db.Begin()
			defer tx.Rollback()
			_, err := gormplugin.LockSubtrees(tx, &Suite{}, a.ID)
			w.fails(err, pathlock.ErrConflict)
		}},
		{"several nodes are asserted at once, leaves by their parents", func(w *world) {
			a, b := w.build("/a/b"), w.build("/c")
			leaf := &Case{SuiteID: a.ID, Name: "t"}
			w.must(w.db.Create(leaf).Error)
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				at, err := gormplugin.AssertAll(tx, &Suite{}, b.ID, a.ID)
				w.must(err)
				if got := fmt.Sprint(at[0].Path, at[1].Path); got != "/c /a/b" {
					w.Errorf("got %s", got)
				}
				location, err := gormplugin.Assert(tx, &Case{}, leaf.ID)
				w.must(err)
				if location.Path.String() != "/a/b/t" || location.Tree != w.tree() {
					w.Errorf("got %v", location)
				}
				if w.held() != "" {
					w.Errorf("Assert took the locks %s", w.held())
				}
				at, err = gormplugin.LockSubtrees(tx, &Case{}, leaf.ID)
				w.must(err)
				if w.held() != "X /a/b/t" || at[0].Path.String() != "/a/b/t" {
					w.Errorf("%v holds %s", at, w.held())
				}
				_, err = gormplugin.AssertAll(tx, &Suite{}, a.ID, int64(1)<<60)
				w.fails(err, pathlock.ErrNotFound)
				_, err = gormplugin.Assert(tx, &Case{}, int64(1)<<60)
				w.fails(err, pathlock.ErrNotFound)
				return nil
			}))
		}},
		{"a leaf's assertion sees a path that its ancestors contradict", func(w *world) {
			a := w.build("/a/b")
			leaf := &Case{SuiteID: a.ID, Name: "t"}
			w.must(w.db.Create(leaf).Error)
			raw := gormplugin.AllowRawWrites(w.db)
			w.must(raw.Exec("UPDATE suites SET path = '/x' WHERE path = '/a' AND plan_id = ?", w.root.PlanID).Error)
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				_, err := gormplugin.Assert(tx, &Case{}, leaf.ID)
				w.fails(err, pathlock.ErrPathChanged)
				return nil
			}))
			w.must(raw.Exec("UPDATE suites SET path = '/a' WHERE path = '/x' AND plan_id = ?", w.root.PlanID).Error)
		}},
	}
}

// isRefused returns the error that the tripwire gives.
func isRefused(err error) (*gormplugin.RawWriteError, bool) {
	return errors.AsType[*gormplugin.RawWriteError](err)
}
