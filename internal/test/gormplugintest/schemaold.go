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
	Below    int    `gorm:"->;-:migration"` // what a query computes is no column of the table
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

// checkUnfilledValues checks that live rows need values in all columns of the tree, other than
// those that a new column is filled with; a root row needs no name and no path. The rows at the top
// are told from those below others where both paths may have as many separators, and where the
// parent column has a mark. Many rows of one parent's path can be told apart by an index.
func checkUnfilledValues(t *testing.T, d Database) {
	w := newSchemaWorld(t, d, gormplugin.Model(&Plot{}), gormplugin.Model(&Sprig{}, gormplugin.SingleTree("t")), gormplugin.Leaf(&Bud{}, &Sprig{}))
	w.must(gormplugin.AutoMigrate(w.db))
	indexes, err := w.db.Migrator().GetIndexes(&Sprig{})
	w.must(err)
	isBoth := func(i gorm.Index) bool { // in any order, as PostgreSQL's driver has them
		return slices.Equal(slices.Sorted(slices.Values(i.Columns())), []string{"name", "under"})
	}
	if !slices.ContainsFunc(indexes, isBoth) {
		t.Error("no index leads to one of many siblings by their parent's path")
	}
	w.exec("INSERT INTO plots (id, garden, name, path, ids, level, gone) VALUES (1, 'g', '', '', '/1', 0, FALSE), (3, NULL, '', NULL, NULL, NULL, TRUE)")
	w.exec("INSERT INTO plots (id, garden, parent_id, name, path, ids, level, gone) VALUES (2, 'g', 1, 'a', '/a', '/1/2', 1, FALSE)")
	w.exec("INSERT INTO sprigs (id, parent_id, name, under, level) VALUES (1, -1, 'a', '', 0), (2, 1, 'b', 'a', 1), (3, 0, 'c', '', 0)")
	w.exec("INSERT INTO buds (id, sprig_id, name, under) VALUES (1, 1, 'd', 'a')")
	rooted := "UPDATE sprigs SET name = '' WHERE id = 1; UPDATE sprigs SET under = '', level = 0 WHERE id = 2; UPDATE buds SET under = ''"
	for _, c := range []struct{ statements, missing string }{
		{"", ""},
		{"UPDATE plots SET garden = NULL WHERE id = 2", `garden of row "2"`},
		{"UPDATE plots SET garden = '' WHERE id = 2", `garden of row "2"`},
		{"UPDATE plots SET parent_id = NULL WHERE id = 2", `parent_id of row "2"`},
		{"UPDATE plots SET path = NULL WHERE id = 2", `path of row "2"`},
		{"UPDATE plots SET path = '' WHERE id = 2", `path of row "2"`},
		{"UPDATE plots SET ids = NULL WHERE id = 2", `ids of row "2"`},
		{"UPDATE plots SET ids = '' WHERE id = 2", `ids of row "2"`},
		{"UPDATE plots SET level = NULL WHERE id = 2", `level of row "2"`},
		{"UPDATE plots SET level = 0 WHERE id = 2", `level of row "2"`},
		{"UPDATE sprigs SET parent_id = -1 WHERE id = 2", `parent_id of row "2"`},
		{"UPDATE sprigs SET parent_id = 0 WHERE id = 2", `parent_id of row "2"`},
		{"UPDATE sprigs SET under = '' WHERE id = 2", `under of row "2"`},
		{"UPDATE sprigs SET level = 0 WHERE id = 2", `level of row "2"`},
		{"UPDATE buds SET under = ''", `under of row "1"`},
		{rooted, ""},
		{rooted + "; INSERT INTO sprigs (id, parent_id, name, under, level) VALUES (4, 2, 'e', '', 1)", `under of row "4"`},
	} {
		tx := w.db.Begin()
		with := schemaWorld{&world{T: t, db: tx}, w.binary}
		for statement := range strings.SplitSeq(c.statements, "; ") {
			if statement != "" {
				with.exec(statement)
			}
		}
		found := with.findings()
		if c.missing == "" && found != nil || c.missing != "" && (described(found) != "unsafe filled in words" || !strings.HasPrefix(found[0].Missing, "the column "+c.missing+" ")) {
			t.Errorf("%s: %v", c.statements, found)
		}
		w.must(tx.Rollback().Error)
	}
}
