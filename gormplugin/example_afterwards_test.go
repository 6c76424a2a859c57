package gormplugin_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// Others hear of a suite once it is there for them to read. The nested transaction fails, and so
// nobody hears of what it made.
func ExampleAfterCommit() {
	db, drop := openPlan("/api")
	defer drop()

	create := func(tx *gorm.DB, name string) error {
		suite := &Suite{ParentID: &suiteAt(tx, "/api").ID, Name: name}
		if err := tx.Create(suite).Error; err != nil {
			return err
		}
		return gormplugin.AfterCommit(tx, func(ctx context.Context) {
			fmt.Println("created", suiteAt(db.WithContext(ctx), suite.Path).Path)
		})
	}
	err := db.Transaction(func(tx *gorm.DB) error {
		if err := create(tx, "login"); err != nil {
			return err
		}
		_ = tx.Transaction(func(tx *gorm.DB) error {
			return errors.Join(create(tx, "logout"), errors.New("not today"))
		})
		fmt.Println("committing")
		return nil
	})
	fmt.Println(err)
	// Output:
	// committing
	// created /api/login
	// <nil>
}

// However many transactions the handler of a request writes in, each of them also records who it
// was.
func ExampleWithBeforeCommit() {
	db, drop := openPlan("/api")
	defer drop()

	ctx := gormplugin.WithBeforeCommit(context.Background(), func(tx *gorm.DB) error {
		return tx.Model(&Suite{}).Where("note = ?", "").Update("note", "by ann").Error
	})
	api := suiteAt(db, "/api")
	if err := db.WithContext(ctx).Create(&Suite{ParentID: &api.ID, Name: "login"}).Error; err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(suiteAt(db, "/api/login").Note)
	// Output: by ann
}
