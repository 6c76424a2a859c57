package gormplugintest

import (
	"database/sql"
	"errors"

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
	{"G.Raw.Find", true, func(tx *gorm.DB, sql string, args ...any) error {
		_, err := gorm.G[Suite](tx).Raw(sql, args...).Find(tx.Statement.Context)
		return err
	}},
}

func rawChecks() []check {
	return []check{
		{"raw SQL that writes a guarded table is refused in every form, and what only reads it passes", func(w *world) {
			a := w.build("/a")
			for _, form := range rawForms {
				err := form.run(w.db, "\n-- a comment\nupdate suites set name = 'x' where id = ?", a.ID)
				refused, ok := errors.AsType[*gormplugin.RawWriteError](err)
				if !ok || refused.Table != "suites" || refused.Statement != "UPDATE" || !errors.Is(err, gormplugin.ErrUnsupported) {
					w.Errorf("%s: got %v", form.name, err)
				}
				w.fails(form.run(w.db, "DELETE FROM cases WHERE suite_id = ?", a.ID), gormplugin.ErrUnsupported)
				w.must(form.run(w.db, "SELECT id FROM suites WHERE id = ? AND name <> 'UPDATE suites SET'", a.ID))
				if !form.reads {
					w.must(form.run(w.db, "UPDATE others SET name = 'suites' WHERE id IN (SELECT id FROM suites WHERE id = ?)", -a.ID))
				}
			}
			w.has("/a")
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
		{"leaves are asserted by their parents", func(w *world) {
			a := w.build("/a/b")
			leaf := &Case{SuiteID: a.ID, Name: "t"}
			w.must(w.db.Create(leaf).Error)
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				at, err := gormplugin.Assert(tx, &Case{}, leaf.ID)
				w.must(err)
				if at.Path.String() != "/a/b/t" || at.Tree != w.tree() || w.held() != "" {
					w.Errorf("%v holds %s", at, w.held())
				}
				_, err = gormplugin.LockSubtrees(tx, &Case{}, leaf.ID)
				w.must(err)
				if w.held() != "X /a/b/t" {
					w.Errorf("held is %s", w.held())
				}
				_, err = gormplugin.Assert(tx, &Case{}, int64(1)<<60)
				w.fails(err, pathlock.ErrNotFound)
				return nil
			}))
		}},
		{"an assertion sees a path that its ancestors contradict", func(w *world) {
			a, b := w.build("/a"), w.build("/a/b")
			leaf := &Case{SuiteID: b.ID, Name: "t"}
			w.must(w.db.Create(leaf).Error)
			raw := gormplugin.AllowRawWrites(w.db)
			w.must(raw.Exec("UPDATE suites SET path = '/x' WHERE path = '/a' AND plan_id = ?", w.root.PlanID).Error)
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				_, err := gormplugin.Assert(tx, &Case{}, leaf.ID)
				w.fails(err, pathlock.ErrPathChanged)
				_, err = gormplugin.Assert(tx, &Suite{}, b.ID)
				if changed, ok := errors.AsType[*gormplugin.PathChangedError](err); !ok || changed.ID != a.ID {
					w.Errorf("got %v, want the row that is wrong", err)
				}
				for _, guard := range []func(*gorm.DB, any, ...any) ([]pathlock.Location, error){gormplugin.AssertAll, gormplugin.LockSubtrees} {
					_, err := guard(tx, &Suite{}, w.root.ID, b.ID)
					w.fails(err, pathlock.ErrPathChanged)
					for _, id := range []any{"x", "9223372036854775808", "1 OR 1=1"} {
						_, err := guard(tx, &Suite{}, id)
						w.fails(err, pathlock.ErrInvalidID)
					}
				}
				return nil
			}))
			w.must(raw.Exec("UPDATE suites SET path = '/a' WHERE path = '/x' AND plan_id = ?", w.root.PlanID).Error)
		}},
		{"a node whose own path is not what follows from its place is not asserted", func(w *world) {
			b := w.build("/a/b")
			put := func(path string) {
				w.must(gormplugin.AllowRawWrites(w.db).Exec("UPDATE suites SET path = ? WHERE id = ?", path, b.ID).Error)
			}
			put("/a/x")
			for _, guard := range []func(*gorm.DB, any, ...any) ([]pathlock.Location, error){gormplugin.AssertAll, gormplugin.LockSubtrees} {
				w.fails(w.db.Transaction(func(tx *gorm.DB) error { _, err := guard(tx, &Suite{}, b.ID); return err }), pathlock.ErrPathChanged)
			}
			put("/a/b")
		}},
		{"a new parent that was deleted since the request has read it is not there", func(w *world) {
			a, c := w.build("/a"), w.build("/a/b/c")
			request := w.resolved(a, c)
			w.must(w.db.Delete(&Suite{}, c.ID).Error)
			w.fails(request.Model(&Suite{}).Where("id = ?", a.ID).Update("parent_id", c.ID).Error, pathlock.ErrNotFound)
		}},
	}
}
