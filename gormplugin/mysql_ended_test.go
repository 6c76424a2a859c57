package gormplugin_test

import (
	"errors"
	"fmt"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"gorm.io/gorm"
)

// Whatever error has ended a transaction on the server, nothing more runs in it once the plugin
// relies on it; after an error that has not, it goes on. A procedure fails with any number, with a
// ROLLBACK before it or without one, as a server does by its version, its settings and its plugins.
func TestTransaction_errorsThatEndIt(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for when, latent := range map[string]bool{"after a guarded table": false, "before one": true} {
			t.Run(when, func(t *testing.T) { failWithEachNumber(t, server, gorm.Config{PrepareStmt: latent}, latent) })
		}
	})
}

// failWithEachNumber has a procedure fail in transactions of a DB with the configuration. latent is
// set where these come to guarded tables only afterwards.
func failWithEachNumber(t *testing.T, server testserver.MySQLServer, config gorm.Config, latent bool) {
	t.Helper()
	db, locker, a, _ := openMySQL(t, server, config, nil)
	unprepared, err := db.DB()
	testerr.Must(t, err)
	for _, number := range []uint16{
		1205, // ER_LOCK_WAIT_TIMEOUT, with innodb_rollback_on_timeout
		1644, // ER_SIGNAL_EXCEPTION
		9999, // one that nobody knows yet
	} {
		for _, ends := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d, ended %v", number, ends), func(t *testing.T) {
				failing := fmt.Sprintf("fail_%d_%v", number, ends)
				body := fmt.Sprintf("SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = %d; ", number)
				if ends {
					body = "ROLLBACK; " + body
				}
				_, err := unprepared.ExecContext(t.Context(), "CREATE PROCEDURE "+failing+"() BEGIN "+body+"END")
				testerr.Must(t, err)
				tx := db.Begin()
				testerr.Must(t, tx.Error)
				testerr.Must(t, tx.Create(&other{Name: "before " + failing}).Error)
				if !latent {
					_, err = gormplugin.Assert(tx, &suite{}, a.ID)
					testerr.Must(t, err)
				}
				err = tx.Session(&gorm.Session{}).Exec("CALL " + failing + "()").Error
				if e, ok := errors.AsType[*mysqldriver.MySQLError](err); !ok || e.Number != number {
					t.Fatalf("got %v", err)
				}
				if latent {
					_, err = gormplugin.Assert(tx, &suite{}, a.ID)
					if (err != nil) != ends {
						t.Errorf("what relies on the transaction afterwards: %v", err)
					}
				}
				goOn(t, db, tx, a, failing, ends)
			})
		}
	}
	noLocks(t, locker)
}

// goOn writes in a transaction after an error, and checks that nothing of it is committed if the
// error has ended it, and all of it if not.
func goOn(t *testing.T, db, tx *gorm.DB, a *suite, name string, ended bool) {
	t.Helper()
	for what, write := range map[string]func(tx *gorm.DB) error{
		"a guarded table": func(tx *gorm.DB) error { return tx.Create(&suite{ParentID: &a.ID, Name: name}).Error },
		"another table":   func(tx *gorm.DB) error { return tx.Create(&other{Name: name}).Error },
		"raw SQL":         func(tx *gorm.DB) error { return tx.Exec("INSERT INTO others (name) VALUES (?)", name).Error },
		"a savepoint": func(tx *gorm.DB) error {
			return tx.Transaction(func(tx *gorm.DB) error { return tx.Create(&other{Name: name}).Error })
		},
	} {
		if err := write(tx.Session(&gorm.Session{})); (err != nil) != ended {
			t.Errorf("%s afterwards: %v", what, err)
		}
	}
	want := int64(0)
	if ended {
		testerr.Must(t, tx.Rollback().Error)
	} else {
		want = 5
		testerr.Must(t, tx.Commit().Error)
	}
	var others, suites int64
	testerr.Must(t, db.Model(&other{}).Where("name IN ?", []string{name, "before " + name}).Count(&others).Error)
	testerr.Must(t, db.Model(&suite{}).Where("name = ?", name).Count(&suites).Error)
	if others+suites != want {
		t.Errorf("%d rows are committed, want %d", others+suites, want)
	}
}

// A row lock that is not given in time ends the statement or, where the server is set up so, all of
// its transaction.
func TestTransaction_lockWaitTimeout(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db, locker, a, b := openMySQL(t, server, gorm.Config{}, map[string]string{"innodb_lock_wait_timeout": "1"})
		var ends bool
		testerr.Must(t, db.Raw("SELECT @@innodb_rollback_on_timeout").Row().Scan(&ends))
		blocker := db.Begin()
		testerr.Must(t, blocker.Exec("SELECT id FROM suites WHERE id = ? FOR UPDATE", b.ID).Error)
		tx := db.Begin()
		testerr.Must(t, tx.Create(&other{Name: "before x"}).Error)
		err := tx.Session(&gorm.Session{}).Model(&suite{}).Where("id = ?", b.ID).Update("note", "y").Error
		if !errors.Is(err, gormplugin.ErrRetry) {
			t.Errorf("got %v", err)
		}
		goOn(t, db, tx, a, "x", ends)
		testerr.Must(t, blocker.Rollback().Error)
		noLocks(t, locker)
	})
}
