package integration

import (
	"database/sql"
	"errors"
	"strconv"
	"testing"

	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Level is a tree whose paths have no limit but the depth, and whose parents may not be NULL.
type Level struct {
	ID       int64
	TreeID   int64  `pathlock:"tree" gorm:"index:level_path,priority:1"`
	ParentID int64  `pathlock:"parent" gorm:"not null;uniqueIndex:level_sibling"`
	Name     string `pathlock:"name" gorm:"uniqueIndex:level_sibling"`
	Path     string `pathlock:"path" gorm:"index:level_path,priority:2"`
}

// levels opens a tree in which each row but the last has one child, and returns its rows.
func levels(t *testing.T, n int) (*gorm.DB, []*Level) {
	t.Helper()
	pool := sql.OpenDB(connectorTo(t, "&_txlock=immediate"))
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	db, err := gorm.Open(gormlite.OpenDB(pool), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Level{}))
	if err := errors.Join(db.AutoMigrate(&Level{}), db.Use(plugin)); err != nil {
		t.Fatal(err)
	}
	rows := make([]*Level, n)
	parent := int64(0)
	for i := range rows {
		rows[i] = &Level{ID: int64(i + 1), TreeID: 1, ParentID: parent, Name: strconv.Itoa(i % 2)}
		parent = rows[i].ID
	}
	if err := db.Create(rows).Error; err != nil {
		t.Fatal(err)
	}
	return db, rows
}

// A copy may reach the depth that a path can have, and no further.
func TestCopyDepth(t *testing.T) {
	t.Parallel()
	const half = pathlock.MaxDepth / 2
	db, rows := levels(t, half)
	if _, err := gormplugin.Copy(db, &Level{}, rows[0].ID, gormplugin.Below(rows[half-1].ID)); err != nil {
		t.Errorf("a copy to the depth of %d: %v", pathlock.MaxDepth, err)
	}
	var now int64
	if err := db.Model(&Level{}).Count(&now).Error; err != nil || now != 2*half {
		t.Fatalf("there are %d rows (%v), want %d", now, err, 2*half)
	}
	var deep Level
	if err := db.Where("name = ? AND parent_id = ?", "0", rows[half-1].ID).Take(&deep).Error; err != nil {
		t.Fatal(err)
	}
	// One level down, and with it everything that the first copy has brought.
	if _, err := gormplugin.Copy(db, &Level{}, deep.ID, gormplugin.Below(deep.ID)); !errors.Is(err, gormplugin.ErrPathTooLong) {
		t.Errorf("got the error %v, want %v", err, gormplugin.ErrPathTooLong)
	}
	var after int64
	if err := db.Model(&Level{}).Count(&after).Error; err != nil || after != now {
		t.Errorf("there are %d rows (%v), want %d", after, err, now)
	}
}

// A move may not take anything deeper than a path can be.
func TestMoveDepth(t *testing.T) {
	t.Parallel()
	db, rows := levels(t, pathlock.MaxDepth)
	other := &Level{TreeID: 1, Name: "other"}
	if err := db.Create(other).Error; err != nil {
		t.Fatal(err)
	}
	if err := gormplugin.Move(db, &Level{}, rows[0].ID, gormplugin.Below(other.ID)); !errors.Is(err, gormplugin.ErrPathTooLong) {
		t.Errorf("one deeper: got the error %v, want %v", err, gormplugin.ErrPathTooLong)
	}
	var moved int64
	if err := db.Model(&Level{}).Where("path LIKE '/other/%'").Count(&moved).Error; err != nil || moved != 0 {
		t.Errorf("%d rows were moved (%v)", moved, err)
	}
	if err := gormplugin.Move(db, &Level{}, rows[1].ID, gormplugin.Below(other.ID)); err != nil {
		t.Errorf("as deep as before: %v", err)
	}
}

// Where a parent may not be NULL, equal names below different parents do not collide while they are
// copied.
func TestCopyWhereParentsAreRequired(t *testing.T) {
	t.Parallel()
	db, rows := levels(t, 2)
	for _, parent := range rows {
		if err := db.Create(&Level{ParentID: parent.ID, Name: "same"}).Error; err != nil {
			t.Fatal(err)
		}
	}
	var top Level
	copied, err := gormplugin.Copy(db, &top, rows[0].ID, gormplugin.Top(), gormplugin.CopyAs("copy"))
	if err != nil || copied != 4 || top.ParentID != 0 {
		t.Fatalf("%d rows were copied, at the top %+v (%v), want 4 below a row without parent", copied, top, err)
	}
	var adrift int64
	err = db.Model(&Level{}).Where("parent_id < 0 OR parent_id = 0 AND path NOT IN ('/0', '/copy')").Count(&adrift).Error
	if err != nil || adrift != 0 {
		t.Errorf("%d rows have no parent (%v)", adrift, err)
	}
	var paths []string
	if err := gormplugin.Subtree(db, &Level{}, top.ID).Order("path").Pluck("path", &paths).Error; err != nil || len(paths) != 4 || paths[2] != "/copy/1/same" {
		t.Errorf("the copy is %q (%v)", paths, err)
	}
}
