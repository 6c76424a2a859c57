package gormplugin_test

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// A subtree is a range of the index over tree and path. The query can be refined.
func ExampleSubtree() {
	db, drop := openPlan("/api/login/errors", "/api2")
	defer drop()

	api := suiteAt(db, "/api")
	printPaths(gormplugin.Subtree(db, &Suite{}, api.ID))
	printPaths(gormplugin.Subtree(db, &Suite{}, api.ID).Where("name LIKE ?", "e%"))
	// Output:
	// /api /api/login /api/login/errors
	// /api/login/errors
}

func ExampleChildren() {
	db, drop := openPlan("/api/login/errors", "/api/search")
	defer drop()

	printPaths(gormplugin.Children(db, &Suite{}, suiteAt(db, "/api").ID))
	// Output: /api/login /api/search
}

// Ordered by path, the top comes first.
func ExampleAncestors() {
	db, drop := openPlan("/api/login/errors")
	defer drop()

	printPaths(gormplugin.Ancestors(db, &Suite{}, suiteAt(db, "/api/login/errors").ID))
	// Output: /api /api/login
}

// Leaves are found anywhere in a subtree, Children only in the row itself.
func ExampleLeaves() {
	db, drop := openPlan("/api/login")
	defer drop()

	api, login := suiteAt(db, "/api"), suiteAt(db, "/api/login")
	cases := []*Case{{SuiteID: api.ID, Name: "smoke"}, {SuiteID: login.ID, Name: "wrong password"}}
	if err := db.Create(cases).Error; err != nil {
		fmt.Println(err)
		return
	}
	var anywhere, here []string
	err := errors.Join(
		gormplugin.Leaves(db, &Case{}, api.ID).Order("name").Pluck("name", &anywhere).Error,
		gormplugin.Children(db, &Case{}, api.ID).Pluck("name", &here).Error,
	)
	fmt.Printf("%q %q %v\n", anywhere, here, err)
	// Output: ["smoke" "wrong password"] ["smoke"] <nil>
}

// A row is found by its path, in a tree that is named by the value of its column.
func ExampleAt() {
	db, drop := openPlan("/api/login")
	defer drop()

	var login Suite
	err := gormplugin.At(db, &Suite{}, 1, pathlock.MustParsePath("/api/login")).Take(&login).Error
	fmt.Println(login.Name, err)
	// Output: login <nil>
}

// The place of a row is its tree and its path: what path locks go by.
func ExampleResolve() {
	db, drop := openPlan("/api/login")
	defer drop()

	at, err := gormplugin.Resolve(db, &Suite{}, suiteAt(db, "/api/login").ID)
	fmt.Println(at.Tree, at.Path, err)

	_, err = gormplugin.Resolve(db, &Suite{}, 404)
	fmt.Println(errors.Is(err, pathlock.ErrNotFound))
	// Output:
	// suites/1 /api/login <nil>
	// true
}
