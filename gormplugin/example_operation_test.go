package gormplugin_test

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// A rename gives all that lies below the row its new path, in one statement. A name is unique among
// siblings: the error says where it is taken.
func ExampleRename() {
	db, drop := openPlan("/api/login/errors", "/api/logout")
	defer drop()

	login := suiteAt(db, "/api/login")
	err := gormplugin.Rename(db, login, login.ID, "logout")
	var taken *gormplugin.NameTakenError
	if errors.As(err, &taken) {
		fmt.Println(taken.Table, taken.Tree, taken.Path)
	}
	fmt.Println(gormplugin.Rename(db, login, login.ID, "sign-in"), login.Path)
	printPaths(db.Model(&Suite{}))
	// Output:
	// suites suites/1 /api/logout
	// <nil> /api/sign-in
	// /api /api/logout /api/sign-in /api/sign-in/errors
}

// A move keeps the name. A row cannot be moved into its own subtree, and nil is the top.
func ExampleMove() {
	db, drop := openPlan("/api/login/errors", "/archive")
	defer drop()

	login, archive := suiteAt(db, "/api/login"), suiteAt(db, "/archive")
	if err := gormplugin.Move(db, &Suite{}, login.ID, gormplugin.Below(archive.ID)); err != nil {
		fmt.Println(err)
	}
	printPaths(db.Model(&Suite{}))

	err := gormplugin.Move(db, &Suite{}, archive.ID, gormplugin.Below(login.ID))
	fmt.Println("into itself:", errors.Is(err, gormplugin.ErrWouldCycle))

	if err := gormplugin.Move(db, &Suite{}, login.ID, gormplugin.Top()); err != nil {
		fmt.Println(err)
	}
	printPaths(db.Model(&Suite{}))
	// Output:
	// /api /archive /archive/login /archive/login/errors
	// into itself: true
	// /api /archive /login /login/errors
}

// A deletion includes the subtree, and counts it.
func ExampleDelete() {
	db, drop := openPlan("/api/login/errors", "/archive")
	defer drop()

	api := suiteAt(db, "/api")
	rows, err := gormplugin.Delete(db, &Suite{}, api.ID)
	fmt.Println(rows, err)
	printPaths(db.Model(&Suite{}))

	_, err = gormplugin.Delete(db, &Suite{}, api.ID)
	fmt.Println(errors.Is(err, pathlock.ErrNotFound))
	// Output:
	// 3 <nil>
	// /archive
	// true
}

// A trigger keeps a row after its descendants were deleted. So their deletion is rolled back.
func ExampleMissedRowsError() {
	type Draft struct {
		ID        int64
		PlanID    int64  `pathlock:"tree"`
		ParentID  *int64 `pathlock:"parent"`
		Name      string `pathlock:"name"`
		Path      string `pathlock:"path"`
		DeletedAt gorm.DeletedAt
	}
	db, drop := open(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Draft{})))
	defer drop()
	err := errors.Join(
		db.Create(&Draft{PlanID: 1, Name: "api"}).Error,
		db.Create(&Draft{ParentID: new(int64(1)), Name: "login"}).Error,
		gormplugin.AllowRawWrites(db).Exec("CREATE TRIGGER keep BEFORE UPDATE ON drafts FOR EACH ROW SET NEW.deleted_at = IF(NEW.id = 1, NULL, NEW.deleted_at)").Error,
	)
	fmt.Println(err)

	err = db.Delete(&Draft{}, 1).Error
	var missed *gormplugin.MissedRowsError
	if errors.As(err, &missed) {
		fmt.Println(missed.Written, "of", missed.Planned, missed.Table)
	}
	printPaths(db.Model(&Draft{}))
	// Output:
	// <nil>
	// 0 of 1 drafts
	// /api /api/login
}
