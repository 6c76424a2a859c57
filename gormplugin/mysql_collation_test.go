package gormplugin_test

import (
	"database/sql"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// loose is a tree whose names are told apart by their bytes and whose paths are not: to the path's
// collation, /d_1 and /D_1 are one.
type loose struct {
	ID       int64
	PlanID   int64  `pathlock:"tree" gorm:"uniqueIndex:sibling;index:path"`
	ParentID int64  `pathlock:"parent" gorm:"uniqueIndex:sibling"`
	Name     string `pathlock:"name" gorm:"type:varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;uniqueIndex:sibling"`
	Path     string `pathlock:"path" gorm:"type:varchar(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;index:path"`
}

// What is done to one subtree must not touch another whose path the collation holds equal.
func TestMySQLLooseCollation(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		d := mysqlDatabase(t, server, nil)
		pool := sql.OpenDB(d.Connector)
		t.Cleanup(func() { _ = pool.Close() })
		db, err := gorm.Open(d.Dialector(pool), &gorm.Config{Logger: logger.Discard})
		must(t, err)
		must(t, db.AutoMigrate(&loose{}))
		must(t, db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&loose{}))))
		row := func(parent int64, name string) *loose {
			r := &loose{PlanID: 1, ParentID: parent, Name: name}
			must(t, db.Create(r).Error)
			return r
		}
		lower, upper, accented := row(0, "d_1"), row(0, "D_1"), row(0, "d_\u00b9")
		for _, above := range []*loose{lower, upper, accented} {
			row(row(above.ID, "x").ID, "y")
		}
		has := func(want ...string) {
			t.Helper()
			var paths []string
			must(t, db.Model(&loose{}).Pluck("path", &paths).Error)
			slices.Sort(paths)
			slices.Sort(want)
			if !slices.Equal(paths, want) {
				t.Errorf("the tree is %q, want %q", paths, want)
			}
		}
		others := []string{"/D_1", "/D_1/x", "/D_1/x/y", "/d_\u00b9", "/d_\u00b9/x", "/d_\u00b9/x/y"}
		must(t, db.Model(lower).Update("name", "e").Error)
		has(append([]string{"/e", "/e/x", "/e/x/y"}, others...)...)
		must(t, gormplugin.Rename(db, &loose{}, lower.ID, "d_1"))
		var copied loose
		_, err = gormplugin.Copy(db, &copied, lower.ID, gormplugin.Top(), gormplugin.CopyAs("f"))
		must(t, err)
		must(t, db.Delete(lower).Error)
		has(append([]string{"/f", "/f/x", "/f/x/y"}, others...)...)
		var below []string
		must(t, gormplugin.Subtree(db, &loose{}, upper.ID).Order("path").Pluck("path", &below).Error)
		if want := []string{"/D_1", "/D_1/x", "/D_1/x/y"}; !slices.Equal(below, want) {
			t.Errorf("the subtree is %q, want %q", below, want)
		}
	})
}
