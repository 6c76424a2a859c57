package gormplugintest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// Fixed is a tree whose ids are texts of a fixed length, as UUIDs often are.
type Fixed struct {
	ID       string  `gorm:"primaryKey;type:char(36)"`
	TreeID   string  `pathlock:"tree" gorm:"type:char(36)"`
	ParentID *string `pathlock:"parent" gorm:"type:char(36)"`
	Name     string  `pathlock:"name"`
	Path     string  `pathlock:"path"`
}

// Blank is a tree whose names are in a column that drops or adds spaces at their end.
type Blank struct {
	ID       int64
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"type:char(20)"`
	Path     string `pathlock:"path"`
}

// checkKnown checks that [gormplugin.Verify] knows the indexes that AutoMigrate makes, whatever
// keys and marks are, and however the database rewrites their conditions. Names of a fixed length
// are refused where these would change.
func checkKnown(t *testing.T, d Database) {
	w := newSchemaWorld(t, d, gormplugin.Model(&Fixed{}), gormplugin.Model(&flagged{}), gormplugin.Model(&stamped{}), gormplugin.Model(&filed{}),
		gormplugin.Model(&binaryKeyed{}), gormplugin.Model(&Plot{}), gormplugin.Model(&lettered{}, gormplugin.SingleTree("t")))
	w.must(gormplugin.AutoMigrate(w.db))
	if found := w.findings(); found != nil {
		t.Errorf("after AutoMigrate: %v", found)
	}
	w = newSchemaWorld(t, d, gormplugin.Model(&Blank{}, gormplugin.SingleTree("t")))
	err := gormplugin.AutoMigrate(w.db)
	if want := w.db.Name() != "sqlite"; errors.Is(err, gormplugin.ErrUnsafeSchema) != want { // there, CHAR is TEXT
		t.Errorf("names in char(20): got %v, want a refusal: %t", err, want)
	}
	// Databases connect columns of one collation only.
	w = newSchemaWorld(t, d, gormplugin.Model(&Owned{}))
	w.must(w.db.AutoMigrate(&Owner{}))
	if err := gormplugin.AutoMigrate(w.db); !errors.Is(err, gormplugin.ErrUnsafeSchema) {
		w.must(err)
	}
}

type (
	// Owner is a model of the program's, which knows nothing of trees.
	Owner struct {
		ID string `gorm:"primaryKey;size:36"`
	}

	// Owned is a tree whose trees are owners.
	Owned struct {
		ID       int64
		OwnerID  string `pathlock:"tree" gorm:"size:36"`
		Owner    *Owner
		ParentID *int64 `pathlock:"parent"`
		Name     string `pathlock:"name" gorm:"size:100"`
		Path     string `pathlock:"path"`
	}
)

// Fall is a tree whose foreign key deletes the rows below.
type Fall struct {
	ID       int64
	ParentID *int64 `pathlock:"parent"`
	Parent   *Fall  `gorm:"constraint:OnDelete:CASCADE"`
	Name     string `pathlock:"name"`
	Path     string `pathlock:"path"`
}

// checkCascade deletes trees whose foreign keys delete the rows below: they may have any depth, and
// each row counts.
func checkCascade(t *testing.T, d Database) {
	w := newSchemaWorld(t, d, gormplugin.Model(&Fall{}, gormplugin.SingleTree("t")))
	if err := gormplugin.AutoMigrate(w.db); !w.db.Migrator().HasTable(&Fall{}) {
		t.Fatal(err)
	}
	for _, depth := range []int{3, 40} {
		var top, parent *int64
		for n := range depth {
			row := Fall{ParentID: parent, Name: fmt.Sprint(n)}
			w.must(w.db.Create(&row).Error)
			parent = &row.ID
			if top == nil {
				top = parent
			}
		}
		if rows, err := gormplugin.Delete(w.db, &Fall{}, *top); err != nil || rows != int64(depth) {
			t.Errorf("%d levels: deleted %d rows: %v", depth, rows, err)
		}
		var left int64
		if w.must(w.db.Model(&Fall{}).Count(&left).Error); left > 0 {
			t.Errorf("%d levels: %d rows are left", depth, left)
		}
	}
}
