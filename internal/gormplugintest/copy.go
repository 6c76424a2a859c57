package gormplugintest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// copyChecks are about what a copy does beside what the state machine sees.
func copyChecks() []check {
	return []check{
		{"leaves and other rows come along", func(w *world) {
			w.build("/a/b")
			w.build("/ab")
			for _, p := range []string{"/a", "/a/b", "/ab"} {
				for i := range 2 {
					w.must(w.db.Create(&Case{SuiteID: w.build(p).ID, Name: fmt.Sprint(p[1:2], i), Body: "of " + p}).Error)
				}
			}
			attached := 0
			var top Suite
			_, err := gormplugin.Copy(w.db, &top, w.build("/a").ID, gormplugin.Below(w.root.ID), gormplugin.CopyAs("c"),
				gormplugin.CopyLeaves(&Case{}, map[string]any{"Body": gorm.Expr("UPPER(body)")}),
				gormplugin.CopyAttached(func(tx, pairs *gorm.DB) error {
					attached++
					return tx.Exec("INSERT INTO others (name) SELECT s.path FROM suites s JOIN (?) m ON m.new_id = s.id", pairs).Error
				}))
			w.must(err)
			var bodies []string
			w.must(gormplugin.Leaves(w.db, &Case{}, top.ID).Order("body").Pluck("body", &bodies).Error)
			if got := strings.Join(bodies, " "); got != "OF /A OF /A OF /A/B OF /A/B" {
				w.Errorf("the leaves are %s", got)
			}
			var others []string
			w.must(w.db.Model(&Other{}).Where("name >= '/' AND name < '0'").Order("name").Pluck("name", &others).Error)
			if got := strings.Join(others, " "); got != "/c /c/b" || attached != 1 {
				w.Errorf("attached were %s, in %d calls", got, attached)
			}
			w.must(w.db.Where("name >= '/' AND name < '0'").Delete(&Other{}).Error)
		}},
		{"of a leaf", func(w *world) {
			a, b := w.build("/a"), w.build("/b")
			leaf := &Case{SuiteID: a.ID, Name: "t", Body: "text"}
			w.must(w.db.Create(leaf).Error)
			var made Case
			rows, err := gormplugin.Copy(w.db, &made, leaf.ID, gormplugin.Below(b.ID))
			w.must(err)
			if rows != 1 || made.ID == leaf.ID || made.SuiteID != b.ID || made.Name != "t" || made.Body != "text" {
				w.Errorf("%d rows: %+v", rows, made)
			}
			_, err = gormplugin.Copy(w.db, &made, leaf.ID, gormplugin.Below(a.ID), gormplugin.CopyAs("u"))
			w.must(err)
			_, err = gormplugin.Copy(w.db, &made, leaf.ID, gormplugin.Below(a.ID), gormplugin.CopyAs("u"))
			if taken, ok := errors.AsType[*gormplugin.NameTakenError](err); !ok || taken.Path.String() != "/a/u" || taken.Tree != w.tree() {
				w.Errorf("got %#v, want the slot /a/u", taken)
			}
			if made.Name != "u" {
				w.Errorf("a copy that failed has changed %+v", made)
			}
			_, err = gormplugin.Copy(w.db, &made, leaf.ID, gormplugin.Top())
			w.fails(err, gormplugin.ErrUnsupported)
		}},
		{"columns with other values", func(w *world) {
			b := w.build("/a/b")
			_, err := gormplugin.Copy(w.db, &Suite{}, w.build("/a").ID, gormplugin.Below(w.root.ID), gormplugin.CopyAs("c"), gormplugin.CopyValues(map[string]any{"note": "copied"}))
			w.must(err)
			if got := w.build("/c/b"); got.Note != "copied" {
				w.Errorf("the copy is %+v", got)
			}
			for _, name := range []string{"path", "name", "ParentID", "plan_id", "deleted"} {
				_, err := gormplugin.Copy(w.db, &Suite{}, b.ID, gormplugin.Below(w.root.ID), gormplugin.CopyValues(map[string]any{name: "x"}))
				w.fails(err, gormplugin.ErrUnsupported)
			}
			if _, err := gormplugin.Copy(w.db, &Suite{}, b.ID, gormplugin.Below(w.root.ID), gormplugin.CopyValues(map[string]any{"nope": 1})); err == nil {
				w.Error("a column that is not there was set")
			}
			if _, err := gormplugin.Copy(w.db, Suite{}, b.ID, gormplugin.Below(w.root.ID)); !errors.Is(err, gorm.ErrInvalidValue) {
				w.Errorf("without a pointer: %v", err)
			}
			w.has("/a", "/a/b", "/c", "/c/b")
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
