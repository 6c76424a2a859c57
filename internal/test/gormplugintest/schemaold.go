package gormplugintest

import (
	"errors"
	"strings"
	"testing"

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
// in a new column. Without rows, it adds the column. A registered model may be given again.
func checkUnfilled(t *testing.T, d Database) {
	w := newSchemaWorld(t, d, gormplugin.Model(&Branch{}))
	w.must(w.db.AutoMigrate(&Branch{}))
	w.exec("ALTER TABLE branches DROP COLUMN parent_id")
	w.exec("INSERT INTO branches (id, tree_id, name, path) VALUES (1, 7, 'a', '/a')")
	err := gormplugin.AutoMigrate(w.db, &Other{})
	if !errors.Is(err, gormplugin.ErrUnsafeSchema) || !strings.Contains(err.Error(), "branches: there is no column parent_id") || w.db.Migrator().HasTable(&Other{}) {
		t.Errorf("got %v, want that nothing is done", err)
	}
	w.exec("DELETE FROM branches")
	if err := gormplugin.AutoMigrate(w.db, &Other{}, &Branch{}); !errors.Is(err, gormplugin.ErrUnsafeSchema) { // by collations
		w.must(err)
	}
	if !w.db.Migrator().HasTable(&Other{}) || !w.db.Migrator().HasColumn(&Branch{}, "parent_id") {
		t.Error("AutoMigrate has not done its work without rows")
	}
}
