package gormplugin_test

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// A page in which the tree was sorted by hand sends every row's parent at once, in any order: here
// login goes to the top, and api, which was above it, below it. An arrangement that cannot be is
// refused as a whole, and the error says which row is to blame.
func ExampleArrange() {
	db, drop := openPlan("/api/login/errors", "/archive")
	defer drop()

	api, login, archive := suiteAt(db, "/api"), suiteAt(db, "/api/login"), suiteAt(db, "/archive")
	api.ParentID, login.ParentID, archive.ParentID = &login.ID, nil, &api.ID
	fmt.Println(gormplugin.Arrange(db, []*Suite{api, login, archive}), api.Path)
	printPaths(db.Model(&Suite{}))

	login.ParentID = &archive.ID
	err := gormplugin.Arrange(db, []*Suite{archive, login})
	if row, ok := errors.AsType[*gormplugin.RowError](err); ok {
		fmt.Println(row.Table, row.ID == login.ID, errors.Is(err, gormplugin.ErrWouldCycle))
	}
	printPaths(db.Model(&Suite{}))
	// Output:
	// <nil> /login/api
	// /login /login/api /login/api/archive /login/errors
	// suites true true
	// /login /login/api /login/api/archive /login/errors
}
