package gormplugin_test

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
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
	// OneWriter confirms that all writes reach one server, in a cluster whose servers all take
	// them.
	plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Directory{}), gormplugin.OneWriter())
	err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db, &Label{}))
	fmt.Println(err)
	fmt.Println(db.Migrator().HasTable(&Directory{}), db.Migrator().HasTable(&Label{}))
	fmt.Println(gormplugin.Verify(db))
	// Output:
	// <nil>
	// true true
	// <nil>
}

// At start, Verify says what a table lacks, and why, with the statements that mend it, in an order
// in which they can run. Here somebody has dropped indexes.
func ExampleVerify() {
	db, drop := open(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Suite{})))
	defer drop()
	fmt.Println(db.Exec("ALTER TABLE suites DROP INDEX suites_sibling, DROP INDEX suites_path").Error)

	err := gormplugin.Verify(db)
	fmt.Println("a program should not start:", errors.Is(err, gormplugin.ErrUnsafeSchema))
	var lacks *gormplugin.SchemaError
	if errors.As(err, &lacks) {
		for _, finding := range lacks.Findings {
			fmt.Println(finding.Severity, finding.Table, finding.Check)
			for _, statement := range finding.Statements {
				fmt.Println(statement, db.Exec(statement).Error)
			}
		}
	}
	fmt.Println("then:", gormplugin.Verify(db))
	// Output:
	// <nil>
	// a program should not start: true
	// unsafe suites siblings
	// ALTER TABLE `suites` ADD UNIQUE KEY `suites_sibling` (`parent_id`, `name`, `plan_id`) <nil>
	// warning suites path index
	// ALTER TABLE `suites` ADD KEY `suites_path` (`plan_id`, `path`) <nil>
	// then: <nil>
}
