package gormplugintest

import (
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
