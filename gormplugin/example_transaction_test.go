package gormplugin_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// A transaction that the database gives up is run again, all of it: here the first try fails as if
// by a deadlock.
func ExampleTransaction() {
	db, drop := openPlan("/api")
	defer drop()

	api, tries := suiteAt(db, "/api"), 0
	err := gormplugin.Transaction(context.Background(), db, func(tx *gorm.DB) error {
		tries++
		if err := tx.Create(&Suite{ParentID: &api.ID, Name: "login"}).Error; err != nil {
			return err
		}
		if tries == 1 {
			return gormplugin.ErrRetry
		}
		return nil
	})
	fmt.Println(tries, "tries", err)
	printPaths(db.Model(&Suite{}))
	// Output:
	// 2 tries <nil>
	// /api /api/login
}

// A write inside a transaction keeps others waiting for its rows while it waits for path locks, and
// should not wait long. Here, somebody else has the lock.
func ExampleTransactionWait() {
	locker := pathlock.New(memstore.New())
	plugin := gormplugin.New(locker, gormplugin.Model(&Suite{}), gormplugin.TransactionWait(pathlock.NoWait))
	db, drop := openPlanWith(plugin, "/api")
	defer drop()

	api := suiteAt(db, "/api")
	defer hold(locker, db, api)()

	err := db.Transaction(func(tx *gorm.DB) error {
		return tx.Create(&Suite{ParentID: &api.ID, Name: "login"}).Error
	})
	fmt.Println(errors.Is(err, pathlock.ErrConflict))
	// Output: true
}

// A statement outside of a transaction is tried up to ten times by itself; here the caller wants to
// decide.
func ExampleMaxTries() {
	locker := pathlock.New(memstore.New())
	plugin := gormplugin.New(locker, gormplugin.Model(&Suite{}), gormplugin.MaxTries(1))
	db, drop := openPlanWith(plugin)
	defer drop()

	tries := 0
	givenUp := func(tx *gorm.DB) {
		tries++
		_ = tx.AddError(gormplugin.ErrRetry) // as by a deadlock
	}
	if err := db.Callback().Create().After("gorm:create").Register("example:give up", givenUp); err != nil {
		fmt.Println(err)
		return
	}
	err := db.Create(&Suite{PlanID: 1, Name: "api"}).Error
	fmt.Println(tries, errors.Is(err, gormplugin.ErrRetry))
	// Output: 1 true
}

// A COMMIT by raw SQL would end the transaction behind the plugin's back, and is refused. So are
// statements that commit by themselves, as most definitions do on MySQL.
func ExampleTransactionEndError() {
	db, drop := openPlan("/api")
	defer drop()

	err := db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Model(suiteAt(tx, "/api")).Update("name", "v2").Error; err != nil {
			return err
		}
		return tx.Exec("CREATE TABLE labels (text VARCHAR(20))").Error
	})
	var ends *gormplugin.TransactionEndError
	if errors.As(err, &ends) {
		fmt.Println(ends.Statement)
	}
	printPaths(db.Model(&Suite{}))
	// Output:
	// CREATE TABLE
	// /api
}
