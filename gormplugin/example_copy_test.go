package gormplugin_test

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// Beside its original, a copy needs another name.
func ExampleCopy() {
	db, drop := openPlan("/api/login/errors")
	defer drop()

	api := suiteAt(db, "/api")
	_, err := gormplugin.Copy(db, &Suite{}, api.ID, gormplugin.Below(api.ParentID))
	fmt.Println("under the same name:", errors.Is(err, gormplugin.ErrNameTaken))

	var copied Suite
	rows, err := gormplugin.Copy(db, &copied, api.ID, gormplugin.Below(api.ParentID), gormplugin.CopyAs("api 2"))
	fmt.Println(rows, copied.Path, err)
	printPaths(gormplugin.Subtree(db, &Suite{}, copied.ID))
	// Output:
	// under the same name: true
	// 3 /api 2 <nil>
	// /api 2 /api 2/login /api 2/login/errors
}

// CopyLeaves names a model whose leaves are copied, too. A column of all copied rows can be set
// instead of being copied.
func ExampleCopyLeaves() {
	db, drop := openPlan("/api/login", "/archive")
	defer drop()

	api, archive := suiteAt(db, "/api"), suiteAt(db, "/archive")
	fmt.Println(db.Create(&Case{SuiteID: api.ID, Name: "smoke"}).Error)
	var copied Suite
	rows, err := gormplugin.Copy(db, &copied, api.ID, gormplugin.Below(archive.ID), gormplugin.CopyLeaves(&Case{}, nil),
		gormplugin.CopyValues(map[string]any{"note": gorm.Expr("CONCAT('from ', id)")}))
	fmt.Println(rows, "suites", err)
	fmt.Println(suiteAt(db, "/archive/api").Note, suiteAt(db, "/archive/api/login").Note)

	var cases int64
	err = gormplugin.Leaves(db, &Case{}, copied.ID).Count(&cases).Error
	fmt.Println(cases, "case", err)
	// Output:
	// <nil>
	// 2 suites <nil>
	// from 1 from 2
	// 1 case <nil>
}

// The caller copies what belongs to the rows in tables that the plugin does not know. A query says
// which row is the copy of which.
func ExampleCopyAttached() {
	db, drop := openPlan("/api/login", "/archive")
	defer drop()

	api, archive := suiteAt(db, "/api"), suiteAt(db, "/archive")
	err := errors.Join(
		db.Exec("CREATE TABLE labels (suite_id BIGINT, text VARCHAR(20))").Error,
		db.Exec("INSERT INTO labels VALUES (?, 'urgent')", api.ID).Error,
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	attach := func(tx, pairs *gorm.DB) error {
		return tx.Exec(`INSERT INTO labels (suite_id, text)
			SELECT m.new_id, l.text FROM labels l JOIN (?) m ON m.old_id = l.suite_id`, pairs).Error
	}
	var copied Suite
	_, err = gormplugin.Copy(db, &copied, api.ID, gormplugin.Below(archive.ID), gormplugin.CopyAttached(attach))
	if err != nil {
		fmt.Println(err)
		return
	}
	var text string
	err = db.Table("labels").Where("suite_id = ?", copied.ID).Pluck("text", &text).Error
	fmt.Println(text, err)
	// Output: urgent <nil>
}

// Somebody is about to change the source. A copy of it as it was at one instant need not wait.
func ExampleSnapshotSource() {
	locker := pathlock.New(memstore.New(), pathlock.WithWait(pathlock.NoWait))
	plugin := gormplugin.New(locker, gormplugin.Model(&Suite{}))
	db, drop := openPlanWith(plugin, "/api/login", "/archive")
	defer drop()

	api, archive := suiteAt(db, "/api"), suiteAt(db, "/archive")
	defer hold(locker, db, api)()

	_, err := gormplugin.Copy(db, &Suite{}, api.ID, gormplugin.Below(archive.ID))
	fmt.Println(errors.Is(err, pathlock.ErrConflict))
	rows, err := gormplugin.Copy(db, &Suite{}, api.ID, gormplugin.Below(archive.ID), gormplugin.SnapshotSource())
	fmt.Println(rows, err)
	// Output:
	// true
	// 2 <nil>
}
