package gormplugintest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// oldBranch is [Aged] before it was guarded, in a program that still runs.
type oldBranch struct {
	ID       int64
	ParentID *int64
	Name     string `gorm:"size:100"`
	Path     string `gorm:"index"`
}

// TableName is that of [Aged].
func (oldBranch) TableName() string { return "ageds" }

// Aged is a tree whose model states no size of its paths: their column keeps the one that it has.
type Aged struct {
	ID       int64
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path"`
}

// checkOldModel prepares the table of an old program, which then migrates it once more by GORM
// alone: nothing that the tree needs is gone.
func checkOldModel(t *testing.T, d Database) {
	w := newSchemaWorld(t, d, gormplugin.Model(&Aged{}, gormplugin.SingleTree("t")))
	w.must(w.db.AutoMigrate(&oldBranch{}))
	for _, f := range w.findings() {
		for _, statement := range f.Statements {
			w.exec(statement)
		}
	}
	w.must(gormplugin.AutoMigrate(w.db))
	w.must(w.db.AutoMigrate(&oldBranch{}))
	if found := w.findings(); found != nil {
		t.Errorf("after the old program has migrated: %v", found)
	}
}

// checkUnfilled checks that [gormplugin.AutoMigrate] changes nothing where rows would lack a value
// in a new column, or lack one in a column that is there. Without rows, it adds the column. A
// registered model may be given again.
func checkUnfilled(t *testing.T, d Database) {
	w := newSchemaWorld(t, d, gormplugin.Model(&Branch{}))
	w.must(w.db.AutoMigrate(&Branch{}))
	w.exec("ALTER TABLE branches DROP COLUMN parent_id")
	w.exec("INSERT INTO branches (id, tree_id, name, path) VALUES (1, 7, 'a', '/a'), (2, 7, 'b', '/a/b')")
	for _, step := range []struct{ statement, want string }{
		{"", "branches: there is no column parent_id"},
		{"ALTER TABLE branches ADD COLUMN parent_id BIGINT", "branches: the column parent_id of row \"2\" "},
		{"UPDATE branches SET parent_id = 1, path = NULL WHERE id = 2", "branches: the column path of row \"2\" is NULL"},
	} {
		if step.statement != "" {
			w.exec(step.statement)
		}
		err := gormplugin.AutoMigrate(w.db, &Other{})
		if !errors.Is(err, gormplugin.ErrUnsafeSchema) || !strings.Contains(err.Error(), step.want) || w.db.Migrator().HasTable(&Other{}) {
			t.Errorf("%s: got %v, want that nothing is done", step.statement, err)
		}
	}
	w.exec("ALTER TABLE branches DROP COLUMN parent_id")
	w.exec("DELETE FROM branches")
	if err := gormplugin.AutoMigrate(w.db, &Other{}, &Branch{}); !errors.Is(err, gormplugin.ErrUnsafeSchema) { // by collations
		w.must(err)
	}
	if !w.db.Migrator().HasTable(&Other{}) || !w.db.Migrator().HasColumn(&Branch{}, "parent_id") {
		t.Error("AutoMigrate has not done its work without rows")
	}
}

// Plot is a tree that has all columns that a tree can have.
type Plot struct {
	ID       int64
	Garden   string `pathlock:"tree" gorm:"size:50"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:300"`
	Ids      string `pathlock:"idpath" gorm:"size:300"`
	Level    int    `pathlock:"depth"`
	Gone     bool   `pathlock:"deleted"`
}

// checkUnfilledValues checks that live rows need values in all columns of the tree, other than
// those that a new column is filled with; a root row needs no name and no path.
func checkUnfilledValues(t *testing.T, d Database) {
	w := newSchemaWorld(t, d, gormplugin.Model(&Plot{}))
	w.must(gormplugin.AutoMigrate(w.db))
	w.exec("INSERT INTO plots (id, garden, name, path, ids, level, gone) VALUES (1, 'g', '', '', '/1', 0, FALSE), (3, NULL, '', NULL, NULL, NULL, TRUE)")
	w.exec("INSERT INTO plots (id, garden, parent_id, name, path, ids, level, gone) VALUES (2, 'g', 1, 'a', '/a', '/1/2', 1, FALSE)")
	if found := w.findings(); found != nil {
		t.Errorf("with rows in their places: %v", found)
	}
	for _, set := range []string{"garden = NULL", "garden = ''", "path = NULL", "path = ''", "ids = NULL", "ids = ''", "level = NULL", "level = 0"} {
		w.exec("UPDATE plots SET " + set + " WHERE id = 2")
		column, _, _ := strings.Cut(set, " ")
		if found := w.findings(); described(found) != "unsafe filled in words" || !strings.HasPrefix(found[0].Missing, "the column "+column+" of row \"2\" is NULL") {
			t.Errorf("%s: %v", set, found)
		}
		w.exec("UPDATE plots SET garden = 'g', path = '/a', ids = '/1/2', level = 1 WHERE id = 2")
	}
}

// Sprig is a tree whose paths are of the parents, and whose rows at the top are marked.
type Sprig struct {
	ID       int64
	ParentID int64  `pathlock:"parent,top:-1"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Under    string `pathlock:"path,form:parent:*/*" gorm:"size:500"`
	Level    int    `pathlock:"depth,top:0"`
}

// Bud is a leaf of it.
type Bud struct {
	ID      int64
	SprigID int64  `pathlock:"parent"`
	Name    string `pathlock:"name" gorm:"size:100"`
	Under   string `pathlock:"path,form:parent:*/*" gorm:"size:500"`
}

// checkUnfilledForm checks that the rows at the top are told from rows below others where both
// paths may have as many separators, and where the parent column has a mark; and that many rows of
// one parent's path can be told apart by an index.
func checkUnfilledForm(t *testing.T, d Database) {
	w := newSchemaWorld(t, d, gormplugin.Model(&Sprig{}, gormplugin.SingleTree("t")), gormplugin.Leaf(&Bud{}, &Sprig{}))
	w.must(gormplugin.AutoMigrate(w.db))
	indexes, err := w.db.Migrator().GetIndexes(&Sprig{})
	w.must(err)
	isBoth := func(i gorm.Index) bool { // in any order, as PostgreSQL's driver has them
		return slices.Equal(slices.Sorted(slices.Values(i.Columns())), []string{"name", "under"})
	}
	if !slices.ContainsFunc(indexes, isBoth) {
		t.Error("no index leads to one of many siblings by their parent's path")
	}
	w.exec("INSERT INTO sprigs (id, parent_id, name, under, level) VALUES (1, -1, 'a', '', 0), (2, 1, 'b', 'a', 1), (3, 0, 'c', '', 0)")
	w.exec("INSERT INTO buds (id, sprig_id, name, under) VALUES (1, 1, 'd', 'a')")
	if found := w.findings(); found != nil {
		t.Errorf("with rows in their places: %v", found)
	}
	for _, parent := range []string{"-1", "0"} {
		w.exec("UPDATE sprigs SET parent_id = " + parent + " WHERE id = 2")
		if got := described(w.findings()); got != "unsafe filled in words" {
			t.Errorf("with the parent %s: %s", parent, got)
		}
	}
	w.exec("UPDATE sprigs SET parent_id = 1 WHERE id = 2")
	for _, row := range []struct{ set, back string }{
		{"UPDATE sprigs SET under = '' WHERE id = 2", "UPDATE sprigs SET under = 'a' WHERE id = 2"},
		{"UPDATE sprigs SET level = 0 WHERE id = 2", "UPDATE sprigs SET level = 1 WHERE id = 2"},
		{"UPDATE buds SET under = ''", "UPDATE buds SET under = 'a'"},
	} {
		w.exec(row.set)
		if got := described(w.findings()); got != "unsafe filled in words" {
			t.Errorf("as a row at the top, by %s: %s", row.set, got)
		}
		w.exec(row.back)
	}
	w.exec("UPDATE sprigs SET name = '' WHERE id = 1")
	w.exec("UPDATE sprigs SET under = '', level = 0 WHERE id = 2")
	w.exec("UPDATE buds SET under = ''")
	if found := w.findings(); found != nil {
		t.Errorf("below a root row: %v", found)
	}
	w.exec("INSERT INTO sprigs (id, parent_id, name, under, level) VALUES (4, 2, 'e', '', 1)")
	if got := described(w.findings()); got != "unsafe filled in words" {
		t.Errorf("two rows below a root row: %s", got)
	}
}
