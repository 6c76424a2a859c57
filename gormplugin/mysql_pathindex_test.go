package gormplugin_test

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"gorm.io/gorm"
)

// A subtree may be most of a table. Who changes it locks the subtree, at every isolation level, and
// not the table: an edit in another tree is not waited for.
func TestPathIndex_largeSubtreesLockNoOtherTree(t *testing.T) {
	changes := map[string]func(db *gorm.DB, top, shelf *suite) error{
		"rename": func(db *gorm.DB, top, _ *suite) error { return gormplugin.Rename(db, &suite{}, top.ID, "renamed") },
		"move": func(db *gorm.DB, top, shelf *suite) error {
			return gormplugin.Move(db, &suite{}, top.ID, gormplugin.Below(shelf.ID))
		},
		"copy": func(db *gorm.DB, top, shelf *suite) error {
			_, err := gormplugin.Copy(db, &suite{}, top.ID, gormplugin.Below(shelf.ID))
			return err
		},
		"delete for good": func(db *gorm.DB, top, _ *suite) error {
			_, err := gormplugin.Delete(db.Unscoped(), &suite{}, top.ID)
			return err
		},
	}
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for _, level := range []string{"REPEATABLE-READ", "READ-COMMITTED"} {
			for name, change := range changes {
				t.Run(level+" "+name, func(t *testing.T) {
					t.Parallel()
					db, _, a, b := openMySQL(t, server, gorm.Config{}, map[string]string{
						"transaction_isolation": "'" + level + "'", "innodb_lock_wait_timeout": "1",
					})
					plantLarge(t, db, a)
					elsewhere := &suite{PlanID: 2}
					testerr.Must(t, db.Create(elsewhere).Error)
					ours, theirs := &gormplugintest.Case{SuiteID: a.ID, Name: "leaf"}, &gormplugintest.Case{SuiteID: elsewhere.ID, Name: "leaf"}
					testerr.Must(t, db.Create([]*gormplugintest.Case{ours, theirs}).Error)
					testerr.Must(t, gormplugin.AllowRawWrites(db).Exec("ANALYZE TABLE suites").Error)

					editing := db.Begin()
					// By the primary key: MariaDB would take the index over the marks of deletion,
					// and lock a gap of that.
					testerr.Must(t, editing.Exec("SELECT id FROM suites FORCE INDEX (PRIMARY) WHERE id = ? FOR UPDATE", elsewhere.ID).Error)
					testerr.Must(t, editing.Exec("SELECT id FROM cases FORCE INDEX (PRIMARY) WHERE id = ? FOR UPDATE", theirs.ID).Error)
					testerr.None(t, change(db, a, b))
					testerr.Must(t, editing.Commit().Error)
				})
			}
		}
	})
}

// plantLarge puts rows below a row, until hardly any others are in the table.
func plantLarge(t *testing.T, db *gorm.DB, top *suite) {
	t.Helper()
	rows := make([]*suite, 600)
	for i := range rows {
		rows[i] = &suite{ParentID: &top.ID, Name: fmt.Sprint(i)}
	}
	testerr.Must(t, db.CreateInBatches(rows, 300).Error)
}

// An index that is dropped, or made invisible, while the program runs costs speed and nothing else.
func TestPathIndexIsDropped(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db, _, a, _ := openMySQL(t, server, gorm.Config{}, nil)
		plantLarge(t, db, a)
		testerr.Must(t, gormplugin.Rename(db, &suite{}, a.ID, "one"))
		testerr.Must(t, db.Migrator().DropIndex(&gormplugintest.Suite{}, "path"))
		testerr.Must(t, gormplugin.Rename(db, &suite{}, a.ID, "two"))
		testerr.Must(t, db.Transaction(func(tx *gorm.DB) error { return gormplugin.Rename(tx, &suite{}, a.ID, "three") }))
		var paths int64
		testerr.Must(t, db.Model(&suite{}).Where("path LIKE '/three/%'").Count(&paths).Error)
		if paths != 600 {
			t.Errorf("%d rows are below the row that was renamed, want 600", paths)
		}
	})
}
