package gormplugintest

import (
	"errors"
	"math/rand/v2"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
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
	{"Raw.Row", true, func(tx *gorm.DB, sql string, args ...any) error { return tx.Raw(sql, args...).Row().Scan(new(int64)) }},
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
}

// unseenReads read what a query answers, whose error nobody sees but the caller.
var unseenReads = []struct {
	name       string
	leavesOpen bool
	read       func(query *gorm.DB) error
}{
	{"Scan, whose error GORM sees", false, func(query *gorm.DB) error { return query.Scan(&[]int64{}).Error }},
	{"Row", false, func(query *gorm.DB) error { return query.Row().Scan(new(int)) }},
	{"Rows", false, func(query *gorm.DB) error {
		rows, err := query.Rows()
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			continue
		}
		return rows.Err()
	}},
	{"Rows that are left open", true, func(query *gorm.DB) error {
		rows, err := query.Rows() //nolint:rowserrcheck,sqlclosecheck // That is what it is about.
		_ = rows
		return err
	}},
}

func rawChecks() []check {
	return []check{
		{"raw SQL that names a guarded table is refused in every form, unless it plainly reads or is allowed", func(w *world) {
			a := w.build("/a")
			for _, form := range rawForms {
				err := form.run(w.db, "\n-- a comment\nupdate suites set name = 'x' where id = ?", a.ID)
				refused, ok := errors.AsType[*gormplugin.RawWriteError](err)
				if !ok || refused.Table != "suites" || refused.Statement != "UPDATE" || !errors.Is(err, gormplugin.ErrUnsupported) {
					w.Errorf("%s: got %v", form.name, err)
				}
				w.must(form.run(w.db, "SELECT id FROM suites WHERE id = ? AND name NOT IN ('UPDATE suites SET', 'MODIFY path ')", a.ID))
				w.must(form.run(w.db, "WITH RECURSIVE below AS (SELECT id FROM suites WHERE id = ? UNION ALL SELECT s.id FROM suites s JOIN below b ON s.parent_id = b.id) SELECT id FROM below", a.ID))
				if form.reads {
					continue
				}
				const fromSuites = "UPDATE others SET name = 'x' WHERE id IN (SELECT id FROM suites WHERE id = ?)"
				w.fails(form.run(w.db, fromSuites, -a.ID), gormplugin.ErrUnsupported)
				if form.name == "Exec" { // gorm.G drops a session's settings
					w.must(form.run(gormplugin.AllowRawWrites(w.db), fromSuites, -a.ID))
				}
				w.must(form.run(w.db, "UPDATE others SET name = 'x' WHERE id = ?", -a.ID))
			}
			w.has("/a")
		}},
		{"an assertion sees a path that its ancestors contradict", func(w *world) {
			a, b := w.build("/a"), w.build("/a/b")
			leaf := &Case{SuiteID: b.ID, Name: "t"}
			w.must(w.db.Create(leaf).Error)
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				at, err := gormplugin.LockSubtrees(tx, &Case{}, leaf.ID)
				if w.must(err); at[0].Path.String() != "/a/b/t" || !at[0].Leaf || w.held() != "X /a/b/t" {
					w.Errorf("%v holds %s", at, w.held())
				}
				return nil
			}))
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
					_, err = guard(tx, &Suite{}, "1 OR 1=1")
					w.fails(err, pathlock.ErrInvalidID)
				}
				return nil
			}))
			w.must(raw.Exec("UPDATE suites SET path = '/a' WHERE path = '/x' AND plan_id = ?", w.root.PlanID).Error)
		}},
		{"a deadlock that only whoever reads the rows sees ends the transaction", func(w *world) {
			if w.db.Name() != "mysql" {
				return // there alone, what follows would be committed by itself
			}
			a := w.build("/a")
			for i := range 3 * len(unseenReads) {
				r, prepared, atOnce := unseenReads[i/3], i%3 == 1, i%3 == 2
				if r.leavesOpen && !atOnce {
					continue // nothing else can run beside them
				}
				w.Logf("%s, prepared: %t, and the commit at once: %t", r.name, prepared, atOnce)
				first, rows := Other{}, []Other{{Name: "x"}, {Name: "y"}}
				w.must(w.db.Create(&first).Error)
				w.must(w.db.Create(&rows).Error)
				many := make([]Other, 200) // the server gives up the transaction that has changed less
				heavier := w.db.Begin()
				w.must(heavier.Create(&many).Error)
				w.must(heavier.Model(&rows[0]).Update("name", "z").Error)

				tx := w.db.Session(&gorm.Session{PrepareStmt: prepared}).Begin()
				w.must(gormplugin.Rename(tx, &Suite{}, a.ID, "renamed"))
				w.must(tx.Model(&rows[1]).Update("name", "z").Error)
				other := make(chan error, 1)
				go func() { other <- heavier.Model(&rows[1]).Update("name", "zz").Error }()
				if err := r.read(tx.Raw("SELECT id FROM others WHERE id IN ? ORDER BY id FOR UPDATE", []int64{first.ID, rows[0].ID})); err == nil && !r.leavesOpen {
					w.Fatal("no deadlock")
				}
				w.must(<-other)
				w.must(heavier.Rollback().Error)
				if !atOnce {
					w.fails(tx.Create(&Suite{ParentID: &a.ID, Name: "child"}).Error, gormplugin.ErrRetry)
				}
				w.fails(tx.Commit().Error, gormplugin.ErrRetry)
				w.has("/a")
			}
		}},
		{"a new parent that was deleted since the request has read it is not there", func(w *world) {
			a, c := w.build("/a"), w.build("/a/b/c")
			request := w.resolved(a, c)
			w.must(w.db.Delete(&Suite{}, c.ID).Error)
			w.fails(request.Model(&Suite{}).Where("id = ?", a.ID).Update("parent_id", c.ID).Error, pathlock.ErrNotFound)
		}},
	}
}

// snapshotChecks are about a transaction that goes on while others write, and may keep the snapshot
// that it has begun with.
func snapshotChecks() []check {
	return []check{
		{"an assertion and a Save say where a row is, and not where an older snapshot has it", func(w *world) {
			a, below := w.build("/a"), w.build("/a/below")
			w.sinceReading(a, func(tx *gorm.DB) error {
				w.must(gormplugin.Rename(w.db, &Suite{}, a.ID, "b"))
				at, err := gormplugin.Assert(tx, &Suite{}, a.ID)
				if at.Path.String() != "/b" {
					w.Errorf("asserted %s", at.Path)
				}
				w.must(err)
				a.Note, below.Note = "n", "n"
				if w.must(tx.Save(below).Error); below.Path != "/b/below" {
					w.Errorf("saved %s", below.Path)
				}
				w.fails(tx.Save(a).Error, pathlock.ErrPathChanged)
				return nil
			})
		}},
		{"a write does what it says, though an older snapshot has the rows so already", func(w *world) {
			a, b := w.build("/a"), w.build("/b")
			w.sinceReading(a, func(tx *gorm.DB) error {
				w.must(gormplugin.Rename(w.db, &Suite{}, a.ID, "c"))
				w.must(w.db.Delete(&Suite{}, b.ID).Error)
				return errors.Join(gormplugin.Rename(tx, &Suite{}, a.ID, "a"), tx.Unscoped().Model(&Suite{}).Where("id = ?", b.ID).Update("deleted", nil).Error)
			})
			w.has("/a", "/b")
			w.sinceReading(a, func(tx *gorm.DB) error {
				w.must(gormplugin.Rename(w.db, &Suite{}, a.ID, "c"))
				w.build("/a")
				return gormplugin.Move(tx, &Suite{}, b.ID, gormplugin.Below(pathlock.MustParsePath("/a")))
			})
			w.has("/a", "/a/b", "/c")
			back := w.build("/a/b")
			w.must(w.db.Delete(back).Error)
			w.sinceReading(a, func(tx *gorm.DB) error {
				w.must(w.db.Unscoped().Model(&Suite{}).Where("id = ?", back.ID).Update("deleted", nil).Error)
				return tx.Save(&[]Suite{{ID: back.ID, ParentID: back.ParentID, Name: "b"}, {ID: back.ID + 1000000, ParentID: back.ParentID, Name: "new"}}).Error
			})
			w.has("/a", "/a/b", "/a/new", "/c")
		}},
		{"a write hits rows that an older snapshot lacks, or has otherwise", func(w *world) {
			a, old, k := w.build("/a"), w.build("/old"), w.build("/k")
			w.sinceReading(a, func(tx *gorm.DB) error {
				b, e := w.build("/a/b"), w.build("/a/e")
				w.build("/c/d")
				m := w.build("/m")
				w.must(gormplugin.Rename(w.db, &Suite{}, a.ID, "z"))
				w.must(tx.Model(&Suite{}).Where("id = ?", b.ID).Update("name", "x").Error)
				w.must(tx.Where("name = ?", "c").Delete(&Suite{}).Error)
				w.must(tx.Where(clause.Eq{Column: "id", Value: []int64{k.ID, m.ID}}).Delete(&Suite{}).Error)
				w.must(tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&Suite{ID: e.ID, PlanID: e.PlanID, ParentID: e.ParentID, Name: "y"}).Error)
				var now Suite
				w.must(tx.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}).Take(&now, a.ID).Error)
				now.Name = "a"
				return tx.Save(&now).Error
			})
			w.has("/a", "/a/x", "/a/y", "/old")
			w.sinceReading(old, func(tx *gorm.DB) error {
				w.must(w.db.Delete(&Suite{}, old.ID).Error)
				w.fails(tx.Select("*").Updates(old).Error, gormplugin.ErrStale)
				return nil
			})
		}},
		{"a copy goes to where an older snapshot has a row", func(w *world) {
			x, old := w.build("/a/x"), w.build("/d/a")
			// The new row comes before the old one in every index.
			keys := gormplugin.CopyValues(map[string]any{"id": func() any { return -1 - rand.Int64N(1<<50) }})
			w.sinceReading(old, func(tx *gorm.DB) error {
				w.must(gormplugin.Rename(w.db, &Suite{}, old.ID, "b"))
				_, err := gormplugin.Copy(tx, &Suite{}, *x.ParentID, gormplugin.Below(*old.ParentID), keys)
				return err
			})
			w.has("/a", "/a/x", "/d", "/d/a", "/d/a/x", "/d/b")
		}},
		{"left leaves: somebody else changes them", func(w *world) { w.others(outdateLeft) }},
		{"left leaves: an old snapshot", func(w *world) { w.others(snapshotLeft) }},
	}
}

// sinceReading does something in a transaction that has read a row before.
func (w *world) sinceReading(s *Suite, do func(tx *gorm.DB) error) {
	w.Helper()
	w.must(w.db.Transaction(func(tx *gorm.DB) error {
		w.must(tx.Take(&Suite{}, s.ID).Error)
		return do(tx)
	}))
}
