package gormplugintest

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/offstore"
	"gorm.io/gorm"
)

// copyChecks are about what a copy does beside what the state machine sees.
func copyChecks() []check {
	return []check{
		{"leaves come along, with other values", func(w *world) {
			w.build("/a/b")
			w.build("/ab")
			for _, p := range []string{"/a", "/a/b", "/ab"} {
				for i := range 2 {
					w.must(w.db.Create(&Case{SuiteID: w.build(p).ID, Name: fmt.Sprint(p[1:2], i), Body: "of " + p}).Error)
				}
			}
			var top Suite
			_, err := gormplugin.Copy(w.db, &top, w.build("/a").ID, gormplugin.Below(w.root.ID), gormplugin.CopyAs("c"),
				gormplugin.CopyLeaves(&Case{}, map[string]any{"Body": gorm.Expr("UPPER(body)")}))
			w.must(err)
			var bodies []string
			w.must(gormplugin.Leaves(w.db, &Case{}, top.ID).Order("body").Pluck("body", &bodies).Error)
			if got := strings.Join(bodies, " "); got != "OF /A OF /A OF /A/B OF /A/B" {
				w.Errorf("the leaves are %s", got)
			}
		}},
		{"of a leaf", func(w *world) {
			a := w.build("/a")
			leaf := &Case{SuiteID: a.ID, Name: "t"}
			w.must(w.db.Create(leaf).Error)
			_, err := gormplugin.Copy(w.db, &Case{}, leaf.ID, gormplugin.Below(a.ID))
			if taken, ok := errors.AsType[*gormplugin.NameTakenError](err); !ok || taken.Path.String() != "/a/t" || taken.Tree != w.tree() {
				w.Errorf("got %#v, want the slot /a/t", taken)
			}
			_, err = gormplugin.Copy(w.db, &Case{}, leaf.ID, gormplugin.Top())
			w.fails(err, gormplugin.ErrUnsupported)
		}},
		{"with a key that is taken below its top", func(w *world) {
			b, tries := w.build("/a/b"), 0
			keys := gormplugin.CopyValues(map[string]any{"id": func() any {
				if tries++; tries == 1 {
					return b.ID + 1_000_000
				}
				return b.ID
			}})
			_, err := gormplugin.Copy(w.db, &Suite{}, *b.ParentID, gormplugin.Below(w.root.ID), gormplugin.CopyAs("c"), keys)
			if tries != 2 || w.plugin.FailureOf(err) != pathlock.FailureDuplicate || errors.Is(err, gormplugin.ErrNameTaken) {
				w.Errorf("%d keys: %v", tries, err)
			}
			w.has("/a", "/a/b")
		}},
		{"and other operations that would not heed conditions", func(w *world) {
			a := w.build("/a")
			heed := func(q *gorm.DB) *gorm.DB { return q.Where("1 = 0") }
			for _, db := range []*gorm.DB{heed(w.db), w.db.Scopes(heed), w.db.Joins("JOIN plans ON 1 = 0")} {
				_, copied := gormplugin.Copy(db, &Suite{}, a.ID, gormplugin.Below(a.ID))
				_, resolved := gormplugin.Resolve(db, &Suite{}, a.ID)
				_, asserted := gormplugin.Assert(db, &Suite{}, a.ID)
				_, locked := gormplugin.LockSubtrees(db, &Suite{}, a.ID)
				for _, err := range []error{copied, resolved, asserted, locked} {
					w.fails(err, gormplugin.ErrUnsupported)
				}
			}
			w.has("/a")
		}},
		{"columns of the place with other values", func(w *world) {
			b := w.build("/a/b")
			for _, name := range []string{"path", "name", "ParentID", "plan_id", "deleted"} {
				_, err := gormplugin.Copy(w.db, &Suite{}, b.ID, gormplugin.Below(w.root.ID), gormplugin.CopyValues(map[string]any{name: "x"}))
				w.fails(err, gormplugin.ErrUnsupported)
			}
			w.has("/a", "/a/b")
		}},
		{"to a key that has left leaves behind", func(w *world) {
			gone, other, source := w.build("/a/old"), w.build("/b"), w.build("/source")
			file := &Case{SuiteID: gone.ID, Name: "f"}
			w.must(w.db.Create(file).Error)
			w.must(w.db.Unscoped().Delete(gone).Error)
			w.build("/source/below")
			keys := gorm.Expr("CASE WHEN c.id = ? THEN ? ELSE c.id + ? END", source.ID, gone.ID, int64(1<<40))
			_, err := gormplugin.Copy(w.db, new(Suite), source.ID, gormplugin.Below(other.ID), gormplugin.CopyAs("new"), gormplugin.CopyValues(map[string]any{"id": keys}))
			w.must(err)
			var now Case
			if w.must(w.db.Take(&now, file.ID).Error); now.Column != "/b/new/f" || now.Version != file.Version+1 {
				w.Errorf("the leaf is %+v", now)
			}
		}},
		{"below a path that the request has seen at another row", func(w *world) {
			a, c := w.build("/a"), w.build("/c")
			below := gormplugin.Below(pathlock.MustParsePath("/a"))
			copied, moved := w.resolved(a), w.resolved(a)
			w.must(gormplugin.Rename(w.db, &Suite{}, a.ID, "b"))
			w.build("/a")
			_, err := gormplugin.Copy(copied, &Suite{}, c.ID, below, gormplugin.CopyAs("d"))
			w.must(errors.Join(err, gormplugin.Move(moved, &Suite{}, c.ID, below)))
			w.has("/a", "/a/c", "/a/d", "/b")
		}},
		{"a subtree whose paths are wrong is not copied", func(w *world) {
			w.build("/a/b/c")
			w.must(gormplugin.AllowRawWrites(w.db).Exec("UPDATE suites SET path = '/a/x/c' WHERE id = ?", w.build("/a/b/c").ID).Error)
			before := w.paths()
			_, err := gormplugin.Copy(w.db, &Suite{}, w.build("/a").ID, gormplugin.Below(w.root.ID), gormplugin.CopyAs("d"))
			w.fails(err, pathlock.ErrPathChanged)
			w.has(before)
			w.must(gormplugin.AllowRawWrites(w.db).Exec("UPDATE suites SET path = '/a/b/c' WHERE path = '/a/x/c' AND plan_id = ?", w.root.PlanID).Error)
		}},
	}
}

// unindexed is a row of a tree whose siblings no unique index keeps apart.
type unindexed Folder

// checkCopyTwin has a row come to the place of a copy after the copy's top row. The rows below must
// not go to that one, which the copy has not locked.
func checkCopyTwin(t *testing.T, d Database) {
	plain := open(t, d, settings{}, new(trace))
	testerr.Must(t, plain.Set("gorm:table_options", d.TableOptions).AutoMigrate(&unindexed{}))
	w := machineWorld(t, d, settings{store: offstore.New()}, []gormplugin.Option{gormplugin.Model(&unindexed{})})
	below := func(id string) sql.NullString { return sql.NullString{String: id, Valid: true} }
	w.must(w.db.Create([]unindexed{
		{ID: "a", DriveID: "c", Name: "a"}, {ID: "b", DriveID: "c", ParentID: below("a"), Name: "b"}, {ID: "d", DriveID: "c", Name: "d"},
	}).Error)
	w.trace.reset()
	w.trace.intercept(func(c call) error {
		ran := w.trace.ran()
		if !c.after || !strings.HasPrefix(ran[len(ran)-1], "INSERT") {
			return nil
		}
		w.trace.intercept(nil)
		return w.db.Create(&unindexed{ID: "z", ParentID: below("d"), Name: "a"}).Error // the database finds it last
	})
	keys := gormplugin.CopyValues(map[string]any{"id": gorm.Expr("CONCAT(id, '-copy')")})
	w.fails(gormplugin.Transaction(t.Context(), w.db, func(tx *gorm.DB) error {
		_, err := gormplugin.Copy(tx, &unindexed{}, "a", gormplugin.Below("d"), keys)
		return err
	}, &sql.TxOptions{Isolation: sql.LevelReadCommitted}), gormplugin.ErrNameTaken)
	var ids []string
	w.must(gormplugin.Subtree(w.db, &unindexed{}, "d").Order("id").Pluck("id", &ids).Error)
	if got := strings.Join(ids, " "); got != "d z" {
		t.Errorf("the copy is below the rows %s", got)
	}
}
