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

// Directory is a row of a tree, whose tags say which field is what. AutoMigrate makes the indexes
// that a tree needs.
type Directory struct {
	ID       int64
	DriveID  int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name"`
	Path     string `pathlock:"path"`
}

// The plugin alone, in a job: no request took locks before, so the plugin takes them itself. With
// several processes they share a lock store, such as that of package redisstore.
func Example() {
	db, drop := connect() // is gorm.Open
	defer drop()

	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Directory{}))
	if err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db)); err != nil {
		fmt.Println(err)
		return
	}

	err := gormplugin.Transaction(context.Background(), db, func(tx *gorm.DB) error {
		photos := &Directory{DriveID: 1, Name: "photos"}
		if err := tx.Create(photos).Error; err != nil {
			return err
		}
		if err := tx.Create(&Directory{ParentID: &photos.ID, Name: "2024"}).Error; err != nil {
			return err
		}
		return tx.Model(photos).Update("name", "pictures").Error
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	var all []Directory
	if err := db.Order("path").Find(&all).Error; err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range all {
		fmt.Println(d.Path)
	}
	err = db.Create(&Directory{ParentID: &all[0].ID, Name: "2024"}).Error
	fmt.Println(errors.Is(err, gormplugin.ErrNameTaken))

	// Output:
	// /pictures
	// /pictures/2024
	// true
}
