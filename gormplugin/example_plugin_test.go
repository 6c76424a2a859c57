package gormplugin_test

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// FailureOf knows the errors of GORM and the database, besides those of pathlock's packages.
func ExamplePlugin_FailureOf() {
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Suite{}))
	db, drop := openPlanWith(plugin, "/api")
	defer drop()

	fmt.Println(plugin.FailureOf(db.Take(&Suite{}, 404).Error))
	fmt.Println(plugin.FailureOf(db.Create(&Suite{PlanID: 1, Name: "api"}).Error))
	fmt.Println(plugin.FailureOf(errors.New("a fault of the program's")) == "")
	// Output:
	// not-found
	// name-taken
	// true
}

// Connections that the DB was not opened with, such as another source of dbresolver's, are guarded
// if the plugin hands them out.
func ExamplePlugin_Pool() {
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Suite{}))
	db, drop := openPlanWith(plugin, "/api")
	defer drop()

	source, err := db.DB()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, connections := range []gorm.ConnPool{source, plugin.Pool(source)} {
		tx := db.Session(&gorm.Session{})
		tx.Statement.ConnPool = connections // as dbresolver does, with the Conn of a source's dialector
		err := tx.Create(&Suite{PlanID: 1, Name: "web"}).Error
		fmt.Println(errors.Is(err, gormplugin.ErrUnmanagedTransaction), err == nil)
	}
	// Output:
	// true false
	// false true
}

// A tree has a root row or rows at the top: here one is there already.
func ExampleRootRowError() {
	db, drop := openPlan()
	defer drop()
	fmt.Println(db.Create(&Suite{PlanID: 7}).Error) // without a name and a parent

	err := db.Create(&Suite{PlanID: 7, Name: "api"}).Error
	var root *gormplugin.RootRowError
	if errors.As(err, &root) {
		fmt.Println(root.Root, root.ID)
	}
	fmt.Println(db.Create(&Suite{ParentID: new(int64(1)), Name: "api"}).Error)
	// Output:
	// <nil>
	// true 1
	// <nil>
}
