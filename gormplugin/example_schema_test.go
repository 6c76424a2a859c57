package gormplugin_test

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// AutoMigrate makes the tables of the registered models, and of others, with the indexes and the
// collations that a tree needs.
func ExampleAutoMigrate() {
	db, drop := connect()
	defer drop()

	type Label struct {
		ID   int64
		Text string
	}
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Directory{}))
	err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db, &Label{}))
	fmt.Println(err)
	fmt.Println(db.Migrator().HasTable(&Directory{}), db.Migrator().HasTable(&Label{}))
	fmt.Println(gormplugin.Verify(db))
	// Output:
	// <nil>
	// true true
	// <nil>
}

// At start, Verify says what a table lacks, with the statements that mend it. Here somebody has
// dropped indexes.
func ExampleVerify() {
	db, drop := open(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Suite{})))
	defer drop()
	if err := db.Exec("ALTER TABLE suites DROP INDEX suites_sibling, DROP INDEX suites_path").Error; err != nil {
		fmt.Println(err)
		return
	}

	err := gormplugin.Verify(db)
	if errors.Is(err, gormplugin.ErrUnsafeSchema) {
		fmt.Println("a program should not start with this:")
	}
	fmt.Println(err)
	// Output:
	// a program should not start with this:
	// gormplugin: the schema lacks 2 things
	// 	unsafe: suites: no unique index keeps apart live rows with the same parent_id and name: two siblings can have one name: run ALTER TABLE `suites` ADD UNIQUE KEY `suites_sibling` (`parent_id`, `name`, `plan_id`);
	// 	warning: suites: no index begins with plan_id, path: a rename reads the whole table, and may lock all of it: run ALTER TABLE `suites` ADD KEY `suites_path` (`plan_id`, `path`);
}

// A program, or who installs it, can run the statements in the order in which they come.
func ExampleSchemaError() {
	db, drop := open(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Suite{})))
	defer drop()
	if err := db.Exec("ALTER TABLE suites DROP INDEX suites_sibling, DROP INDEX suites_path").Error; err != nil {
		fmt.Println(err)
		return
	}

	var lacks *gormplugin.SchemaError
	if errors.As(gormplugin.Verify(db), &lacks) {
		for _, finding := range lacks.Findings {
			fmt.Println(finding.Severity, finding.Table, finding.Check)
			for _, statement := range finding.Statements {
				if err := db.Exec(statement).Error; err != nil {
					fmt.Println(err)
				}
			}
		}
	}
	fmt.Println("then:", gormplugin.Verify(db))
	// Output:
	// unsafe suites siblings
	// warning suites path index
	// then: <nil>
}

// On a cluster whose servers all take writes, Verify believes that they come to one. Elsewhere it
// changes nothing.
func ExampleOneWriter() {
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Suite{}), gormplugin.OneWriter())
	db, drop := open(plugin)
	defer drop()

	fmt.Println(gormplugin.Verify(db))
	// Output: <nil>
}

// A program that reads the table past GORM learns the names that the database knows.
func ExampleDescribe() {
	type Node struct {
		ID        int64
		Plan      int64  `pathlock:"tree" gorm:"column:plan_no"`
		Parent    *int64 `pathlock:"parent"`
		Name      string `pathlock:"name"`
		Path      string `pathlock:"path"`
		DeletedAt gorm.DeletedAt
	}
	db, drop := open(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Node{})))
	defer drop()

	d, err := gormplugin.Describe(db, &Node{})
	fmt.Println(d.Table, d.Key, d.Namespace, err)
	fmt.Println(d.Columns.Tree, d.Columns.Parent, d.Columns.Name, d.Columns.Path)
	fmt.Println(d.Marks)
	// Output:
	// nodes id nodes <nil>
	// plan_no parent name path
	// [{deleted_at NULL}]
}
