package gormplugin_test

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// A subtree is a range of the index over tree and path. The query can be refined; so can those for
// the rows right below a row, and for those above it.
func ExampleSubtree() {
	db, drop := openPlan("/api/login/errors", "/api/search", "/api2")
	defer drop()

	api, errs := suiteAt(db, "/api"), suiteAt(db, "/api/login/errors")
	printPaths(gormplugin.Subtree(db, &Suite{}, api.ID))
	printPaths(gormplugin.Subtree(db, &Suite{}, api.ID).Where("name LIKE ?", "e%"))
	printPaths(gormplugin.Children(db, &Suite{}, api.ID))
	printPaths(gormplugin.Ancestors(db, &Suite{}, errs.ID))
	// Output:
	// /api /api/login /api/login/errors /api/search
	// /api/login/errors
	// /api/login /api/search
	// /api /api/login
}

// Leaves finds leaves anywhere in a subtree, Children only those of the row itself.
func ExampleLeaves() {
	db, drop := openPlan("/api/login")
	defer drop()

	api, login := suiteAt(db, "/api"), suiteAt(db, "/api/login")
	cases := []*Case{{SuiteID: api.ID, Name: "smoke"}, {SuiteID: login.ID, Name: "wrong password"}}
	var anywhere, here []string
	err := errors.Join(
		db.Create(cases).Error,
		gormplugin.Leaves(db, &Case{}, api.ID).Order("name").Pluck("name", &anywhere).Error,
		gormplugin.Children(db, &Case{}, api.ID).Pluck("name", &here).Error,
	)
	fmt.Printf("%q %q %v\n", anywhere, here, err)
	// Output: ["smoke" "wrong password"] ["smoke"] <nil>
}

// The place of a row is its tree and its path, as path locks name it. At finds the row at a place;
// the value of the tree column names the tree.
func ExampleResolve() {
	db, drop := openPlan("/api/login")
	defer drop()

	var login Suite
	err := gormplugin.At(db, &Suite{}, 1, pathlock.MustParsePath("/api/login")).Take(&login).Error
	fmt.Println(login.Name, err)

	at, err := gormplugin.Resolve(db, &Suite{}, login.ID)
	fmt.Println(at.Tree, at.Path, err)

	_, err = gormplugin.Resolve(db, &Suite{}, 404)
	fmt.Println(errors.Is(err, pathlock.ErrNotFound))
	// Output:
	// login <nil>
	// suites/1 /api/login <nil>
	// true
}
