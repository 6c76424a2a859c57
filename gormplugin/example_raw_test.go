package gormplugin_test

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// Raw SQL on a guarded table is refused, unless the caller says that it has seen to the tree. A
// statement that leaves the rows in their places needs no more than that. The error says which
// table a text would write, and how.
func ExampleAllowRawWrites() {
	db, drop := openPlan("/api/login")
	defer drop()

	const note = "UPDATE suites SET note = 'reviewed' WHERE plan_id = ?"
	var refused *gormplugin.RawWriteError
	if errors.As(db.Exec(note, 1).Error, &refused) {
		fmt.Println(refused.Statement, refused.Table)
	}

	result := gormplugin.AllowRawWrites(db).Exec(note, 1)
	fmt.Println(result.RowsAffected, result.Error)
	// Output:
	// UPDATE suites
	// 2 <nil>
}

// Nobody writes in the subtree while raw SQL does. Its rows are a range of the index over tree and
// path: "0" is what follows "/".
func ExampleLockSubtrees() {
	db, drop := openPlan("/api/login/errors", "/web")
	defer drop()

	api := suiteAt(db, "/api")
	err := db.Transaction(func(tx *gorm.DB) error {
		at, err := gormplugin.LockSubtrees(tx, &Suite{}, api.ID)
		if err != nil {
			return err
		}
		path := at[0].Path.Column()
		return gormplugin.AllowRawWrites(tx).Exec("UPDATE suites SET note = 'frozen' WHERE plan_id = ? AND path >= ? AND path < ?",
			api.PlanID, path+"/", path+"0").Error
	})
	fmt.Println(err)
	printPaths(db.Model(&Suite{}).Where("note = 'frozen'"))
	// Output:
	// <nil>
	// /api/login /api/login/errors
}

// The row and all above it are locked in the database: until the end of the transaction the row
// stays where Assert says it is. Raw SQL can rely on that.
func ExampleAssert() {
	db, drop := openPlan("/api/login")
	defer drop()

	login := suiteAt(db, "/api/login")
	err := db.Transaction(func(tx *gorm.DB) error {
		at, err := gormplugin.Assert(tx, &Suite{}, login.ID) // AssertAll is for several
		if err != nil {
			return err
		}
		return gormplugin.AllowRawWrites(tx).Exec("INSERT INTO suites (plan_id, parent_id, name, path) VALUES (?, ?, ?, ?)",
			login.PlanID, login.ID, "errors", at.Path.Column()+"/errors").Error
	})
	fmt.Println(err)
	printPaths(db.Model(&Suite{}))
	// Output:
	// <nil>
	// /api /api/login /api/login/errors
}

// Without the assertion and the tripwire, all raw SQL passes, as in a program that keeps its tree
// right by itself, and a row gets a path that no row leads to.
func ExampleWithoutAssertion() {
	locker := pathlock.New(memstore.New())
	plugin := gormplugin.New(locker, gormplugin.Model(&Suite{}), gormplugin.WithoutAssertion(), gormplugin.AllowAllRawWrites())
	db, drop := openPlanWith(plugin, "/api/login")
	defer drop()

	err := errors.Join(
		db.Exec("UPDATE suites SET path = '/v2' WHERE path = '/api'").Error,
		db.Create(&Suite{ParentID: &suiteAt(db, "/api/login").ID, Name: "errors"}).Error,
	)
	fmt.Println(err)
	printPaths(db.Model(&Suite{}))
	// Output:
	// <nil>
	// /api/login /api/login/errors /v2
}
