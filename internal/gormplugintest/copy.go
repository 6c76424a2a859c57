package gormplugintest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

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
		{"rows in the recycle bin are nobody's parents", func(w *world) {
			source, d := w.build("/a"), w.build("/d")
			w.build("/a/b/c")
			var binned []int64
			for range 3 {
				// Where the copy will be, and where its rows will be, there were others before.
				w.build("/d/a/b")
				for _, p := range []string{"/d/a", "/d/a/b"} {
					binned = append(binned, w.build(p).ID)
				}
				w.must(w.db.Delete(w.build("/d/a")).Error)
			}
			_, err := gormplugin.Copy(w.db, &Suite{}, source.ID, gormplugin.Below(d.ID), gormplugin.CopyAttached(func(_, pairs *gorm.DB) error {
				var found []struct{ OldID, NewID int64 }
				w.must(pairs.Find(&found).Error)
				if len(found) != 3 {
					w.Errorf("which row is the copy of which: %v", found)
				}
				return nil
			}))
			w.must(err)
			w.has("/a", "/a/b", "/a/b/c", "/d", "/d/a", "/d/a/b", "/d/a/b/c")
			var adopted int64
			w.must(w.db.Model(&Suite{}).Where("parent_id IN ?", binned).Count(&adopted).Error)
			if adopted != 0 {
				w.Errorf("%d copied rows hang below deleted ones", adopted)
			}
			w.sound()
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
			w.fails(err, gormplugin.ErrNameTaken)
			w.wantTaken(err, "/a/u")
			if made.Name != "u" {
				w.Errorf("a copy that failed has changed %+v", made)
			}
			_, err = gormplugin.Copy(w.db, &made, leaf.ID, gormplugin.Top())
			w.fails(err, gormplugin.ErrUnsupported)
		}},
		{"keys that the database does not give", func(w *world) {
			drive := w.tree().ID()
			top := drive + "-x"
			w.must(w.db.Create(&Folder{ID: top, DriveID: drive, Name: "a"}).Error)
			for i := range 3 {
				w.must(w.db.Create(&Folder{ID: fmt.Sprintf("%s-x-%d", drive, i), ParentID: &top, Name: fmt.Sprint(i)}).Error)
			}
			_, err := gormplugin.Copy(w.db, &Folder{}, top, gormplugin.Top(), gormplugin.CopyAs("b"))
			w.fails(err, gormplugin.ErrUnsupported)
			var made Folder
			keys := gormplugin.CopyValues(map[string]any{"id": gorm.Expr("REPLACE(id, '-x', '-y')")})
			rows, err := gormplugin.Copy(w.db, &made, top, gormplugin.Top(), gormplugin.CopyAs("b"), keys)
			w.must(err)
			if rows != 4 || made.ID != drive+"-y" || made.ParentID != nil || made.Path != "/b" {
				w.Errorf("%d rows: %+v", rows, made)
			}
			// No unique index of this table would notice.
			_, err = gormplugin.Copy(w.db, &made, top, gormplugin.Top(), gormplugin.CopyAs("b"), keys)
			w.fails(err, gormplugin.ErrNameTaken)
			for _, id := range []string{top, made.ID} {
				_, err = gormplugin.Delete(w.db, &Folder{}, id)
				w.must(err)
			}
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
		{"the locks of a copy", func(w *world) {
			w.build("/a/b")
			d := w.build("/d")
			b := w.build("/a/b")
			for snapshot, want := range map[bool]string{false: "S /a/b, X /d/x", true: "X /d/x"} {
				tx := w.db.Begin()
				opts := []gormplugin.CopyOption{gormplugin.CopyAs("x")}
				if snapshot {
					opts = append(opts, gormplugin.SnapshotSource())
				}
				_, err := gormplugin.Copy(tx, &Suite{}, b.ID, gormplugin.Below(d.ID), opts...)
				w.must(err)
				if got := w.heldIn(pathlock.ModeS, pathlock.ModeX); got != want {
					w.Errorf("holds %s, want %s", got, want)
				}
				w.must(tx.Rollback().Error)
			}
			defer w.holding("/a")()
			_, err := gormplugin.Copy(w.db, &Suite{}, b.ID, gormplugin.Below(d.ID), gormplugin.SnapshotSource())
			w.must(err)
			tx := w.db.Begin()
			_, err = gormplugin.Copy(tx, &Suite{}, b.ID, gormplugin.Below(d.ID), gormplugin.CopyAs("y"))
			w.fails(err, pathlock.ErrConflict)
			w.must(tx.Rollback().Error)
			w.has("/a", "/a/b", "/d", "/d/b")
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

// heldIn returns what is held in the plan in one of the modes, the shared holds first.
func (w *world) heldIn(modes ...pathlock.Mode) string {
	w.Helper()
	snapshot, err := w.locker.Snapshot(w.Context(), w.tree())
	w.must(err)
	var held []string
	for _, mode := range modes {
		for _, h := range snapshot.Holders {
			for _, c := range h.Claims {
				if c.Mode == mode {
					held = append(held, c.String())
				}
			}
		}
	}
	return strings.Join(held, ", ")
}
