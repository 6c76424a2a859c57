package gormplugintest

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// checkOutdatedParents has another process change what is above a row between writes below it: no
// write believes the parents that this process has read before.
func checkOutdatedParents(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	other := newWorld(t, d, settings{root: w.root})
	middle, row, known := w.build("/a/f"), w.build("/a/f/x"), w.build("/b/c")
	move := func(to *Suite) { other.must(gormplugin.Move(other.db, &Suite{}, middle.ID, gormplugin.Below(to.ID))) }
	create := func(name, path string, statements int, recursive bool) {
		w.trace.reset()
		if got := w.suite(row, name).Path; got != path {
			t.Errorf("the new row is at %s, want %s", got, path)
		}
		w.readRecursively(path, recursive)
		if got, _ := w.counted(); got != statements {
			t.Errorf("%s: %d statements, want %d", path, got, statements)
		}
	}
	foreign := other.build("/a/f/y") // this process has not read it
	for _, recursive := range []bool{true, false} {
		foreign.Note += "n"
		w.trace.reset()
		w.must(w.db.Save(foreign).Error)
		w.readRecursively("Save", recursive)
	}
	create("1", "/a/f/x/1", 3, true)
	create("2", "/a/f/x/2", 3, false)
	w.suite(known, "k")
	move(known)
	create("3", "/b/c/f/x/3", 4, false)
	create("4", "/b/c/f/x/4", 3, false)
	move(other.build("/unknown/deep"))
	create("5", "/unknown/deep/f/x/5", 4, true)
	create("6", "/unknown/deep/f/x/6", 3, false)
	_, err := gormplugin.Delete(other.db, &Suite{}, middle.ID)
	other.must(err)
	w.fails(w.db.Create(&Suite{ParentID: &row.ID, Name: "7"}).Error, pathlock.ErrNotFound)
	w.has("/a", "/b", "/b/c", "/b/c/k", "/unknown", "/unknown/deep")
	checkOutdatedTop(machineWorld(t, d, settings{}, []gormplugin.Option{gormplugin.Model(&volume{})}))
}

// readRecursively checks whether the last statements have read rows recursively.
func (w *world) readRecursively(what string, want bool) {
	w.Helper()
	if got := slices.ContainsFunc(w.trace.ran(), func(sql string) bool { return strings.Contains(sql, "RECURSIVE") }); got != want {
		w.Errorf("%s: read recursively: %t, want %t", what, got, want)
	}
}

// checkOutdatedTop saves a row that was at the top when it was read, which "0" says.
func checkOutdatedTop(w *world) {
	w.must(gormplugin.AutoMigrate(w.db))
	rows := []volume{{Tree: 1 << 40, Name: "a"}, {Tree: 1 << 40, Name: "b"}}
	w.must(w.db.Create(rows).Error)
	w.must(gormplugin.Move(w.db, &volume{}, rows[1].ID, gormplugin.Below(rows[0].ID)))
	w.fails(w.db.Save(&rows[1]).Error, pathlock.ErrPathChanged)
	w.fails(w.db.Save(rows[1:]).Error, pathlock.ErrPathChanged)
	w.fails(w.db.Model(&volume{ID: rows[1].ID}).Update("above", "0").Error, pathlock.ErrPathChanged)
}

// checkOutdatedLook has others write while a rename is planned and asserted. When it is asserted
// first, the row is away, and so unlocked. Then it is at the top, and has a child. The child gets
// its path, whatever was below the row at first.
func checkOutdatedLook(t *testing.T, d Database) {
	if d.SoleWriter {
		t.Skip("nobody else can write meanwhile")
	}
	planned := new(meanwhile)
	w := newWorld(t, d, settings{observer: planned})
	plan := w.root.PlanID + 1<<40 // without a root row
	rows := []*Suite{{PlanID: plan, Name: "a"}, {PlanID: plan, Name: "c"}}
	w.must(w.db.Create(rows).Error)
	row := w.suite(rows[0], "b")
	tx := w.db.Begin(&sql.TxOptions{Isolation: sql.LevelReadCommitted})
	others := gormplugin.AllowRawWrites(w.db)
	write := func(statement string, values ...any) { w.must(others.Exec(statement, values...).Error) }
	planned.do = func() {
		write("UPDATE suites SET name = 'z', path = '/z' WHERE id = ?", rows[0].ID)
		write("UPDATE suites SET id = -id WHERE id = ?", row.ID)
		w.trace.intercept(func(asserted call) error {
			if asserted.after && asserted.kind == "query" {
				w.trace.intercept(nil)
				write("UPDATE suites SET id = -id, path = '/b', parent_id = NULL WHERE id = ?", -row.ID)
				write("UPDATE suites SET path = '/b/c', parent_id = ? WHERE id = ?", row.ID, rows[1].ID)
			}
			return nil
		})
	}
	w.must(tx.Model(&Suite{}).Where("id = ?", row.ID).Update("name", "d").Error)
	w.must(tx.Commit().Error)
	var below Suite
	w.must(w.db.Take(&below, rows[1].ID).Error)
	if below.Path != "/d/c" {
		w.Errorf("the child of the renamed row is at %s", below.Path)
	}
}
