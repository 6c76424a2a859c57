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
