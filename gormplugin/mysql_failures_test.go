package gormplugin_test

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

type (
	suite = gormplugintest.Suite
	other = gormplugintest.Other
)

// openMySQL returns a DB with the plugin on a new database, with a root row and two suites in it.
func openMySQL(t *testing.T, server testserver.MySQLServer, config gorm.Config, settings map[string]string) (db *gorm.DB, locker *pathlock.Locker, a, b *suite) {
	t.Helper()
	d := gormplugintest.OnMySQL(t, server, settings)
	pool := sql.OpenDB(d.Connector)
	t.Cleanup(func() {
		if n := pool.Stats().InUse; n != 0 {
			t.Errorf("%d connections are still in use", n)
		}
		_ = pool.Close()
	})
	config.Logger = logger.Discard
	db, err := gorm.Open(d.Dialector(pool), &config)
	testerr.Must(t, err)
	testerr.Must(t, db.Set("gorm:table_options", d.TableOptions).AutoMigrate(&suite{}, &gormplugintest.Case{}, &gormplugintest.Folder{}, &other{}))
	locker = pathlock.New(memstore.New())
	testerr.Must(t, db.Use(gormplugintest.NewPlugin(locker)))
	root := &suite{PlanID: 1}
	testerr.Must(t, db.Create(root).Error)
	a, b = &suite{ParentID: &root.ID, Name: "a"}, &suite{ParentID: &root.ID, Name: "b"}
	testerr.Must(t, db.Create(a).Error)
	testerr.Must(t, db.Create(b).Error)
	return db, locker, a, b
}

// A deadlock ends the transaction on the server. The statements that the caller
// goes on with would each commit by themselves, and survive the rollback.
func TestTransaction_deadlockEndsIt(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for name, config := range map[string]gorm.Config{"plain": {}, "prepared": {PrepareStmt: true}} {
			t.Run(name, func(t *testing.T) {
				db, locker, a, b := openMySQL(t, server, config, nil)
				rows := []*other{{Name: "one"}, {Name: "two"}}
				testerr.Must(t, db.Create(rows).Error)

				txs := []*gorm.DB{db.Begin(), db.Begin()}
				defer txs[0].Rollback()
				defer txs[1].Rollback()
				for i, parent := range []*suite{a, b} {
					testerr.Must(t, txs[i].Create(&suite{ParentID: &parent.ID, Name: "guarded"}).Error)
					testerr.Must(t, txs[i].Model(rows[i]).Update("name", "mine").Error)
				}
				errs := make([]error, 2)
				var crossing sync.WaitGroup
				for i := range txs {
					crossing.Go(func() { errs[i] = txs[i].Model(rows[1-i]).Update("name", "mine").Error })
				}
				crossing.Wait()
				victim, winner := txs[0], txs[1]
				if errs[0] == nil {
					victim, winner, errs[0] = txs[1], txs[0], errs[1]
				}
				if deadlock, ok := errors.AsType[*mysqldriver.MySQLError](errs[0]); !ok || deadlock.Number != 1213 {
					t.Fatalf("got %v, want a deadlock", errs)
				}

				write := victim.Session(&gorm.Session{}).Create(&other{Name: "after"}).Error
				if commit := victim.Session(&gorm.Session{}).Commit().Error; !errors.Is(write, gormplugin.ErrRetry) || !errors.Is(commit, gormplugin.ErrRetry) {
					t.Errorf("a write after the deadlock: %v, the commit: %v", write, commit)
				}
				testerr.Must(t, winner.Commit().Error)
				var after int64
				testerr.Must(t, db.Model(&other{}).Where("name = 'after'").Count(&after).Error)
				if after != 0 {
					t.Errorf("%d rows were written by a transaction that had ended", after)
				}
				noLocks(t, locker)
			})
		}
	})
}

func noLocks(t *testing.T, locker *pathlock.Locker) {
	t.Helper()
	trees, err := locker.Trees(t.Context())
	testerr.Must(t, err)
	if len(trees) > 0 {
		t.Errorf("locks are left in %v", trees)
	}
}

// A transaction under REPEATABLE READ sees the tree as it was at its first read. What it
// writes is right for the tree as it is.
func TestTransaction_oldSnapshot(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for name, write := range map[string]func(tx *gorm.DB, a *suite) error{
			"insert": func(tx *gorm.DB, a *suite) error { return tx.Create(&suite{ParentID: &a.ID, Name: "x"}).Error },
			"rename": func(tx *gorm.DB, a *suite) error {
				return tx.Model(&suite{}).Where("id = ?", a.ID).Update("name", "z").Error
			},
			"assert": func(tx *gorm.DB, a *suite) error {
				location, err := gormplugin.Assert(tx, &suite{}, a.ID)
				if err == nil && location.Path.String() != "/renamed" {
					err = errors.New("asserted the old path " + location.Path.String())
				}
				return err
			},
		} {
			t.Run(name, func(t *testing.T) {
				db, locker, a, _ := openMySQL(t, server, gorm.Config{}, nil)
				testerr.Must(t, db.Transaction(func(tx *gorm.DB) error {
					testerr.Must(t, tx.Take(&suite{}, a.ID).Error) // from here on, the snapshot is kept
					testerr.Must(t, db.Model(&suite{}).Where("id = ?", a.ID).Update("name", "renamed").Error)
					return write(tx, a)
				}))
				var rows []suite
				testerr.Must(t, db.Find(&rows).Error)
				paths := make(map[int64]string)
				for _, r := range rows {
					paths[r.ID] = r.Path
				}
				for _, r := range rows {
					if r.ParentID != nil && r.Path != paths[*r.ParentID]+"/"+r.Name {
						t.Errorf("row %d has the path %q below %q", r.ID, r.Path, paths[*r.ParentID])
					}
				}
				noLocks(t, locker)
			})
		}
	})
}

// The row locks of an insert are those of the rows above it, and no gaps between
// them: transactions that insert elsewhere go on.
func TestCreate_elsewhereDoesNotWait(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db, locker, a, b := openMySQL(t, server, gorm.Config{}, map[string]string{"innodb_lock_wait_timeout": "1"})
		first, second := db.Begin(), db.Begin()
		defer first.Rollback()
		defer second.Rollback()
		for i := range 3 {
			testerr.Must(t, first.Create(&suite{ParentID: &a.ID, Name: fmt.Sprint(i)}).Error)
			testerr.Must(t, second.Create(&suite{ParentID: &b.ID, Name: fmt.Sprint(i)}).Error)
		}
		testerr.Must(t, first.Commit().Error)
		testerr.Must(t, second.Commit().Error)
		noLocks(t, locker)
	})
}
