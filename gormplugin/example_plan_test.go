package gormplugin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Suite is a directory of a test plan, and may lie in another one.
type Suite struct {
	ID       int64
	PlanID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name"`
	Path     string `pathlock:"path"`
	Note     string
}

// Case is a leaf: it lies in a suite.
type Case struct {
	ID      int64
	SuiteID int64  `pathlock:"parent"`
	Name    string `pathlock:"name"`
}

// openPlan opens a database with the tables of suites and cases, in which the plan 1 has a suite
// for each path, and for each path above one. An example that finds no database panics: it has no
// other way to fail at once.
func openPlan(paths ...string) (db *gorm.DB, drop func()) {
	locker := pathlock.New(memstore.New())
	return openPlanWith(gormplugin.New(locker, gormplugin.Model(&Suite{}), gormplugin.Leaf(&Case{}, &Suite{})), paths...)
}

// openPlanWith is [openPlan] with a plugin of the example's own for the suites.
func openPlanWith(plugin *gormplugin.Plugin, paths ...string) (db *gorm.DB, drop func()) {
	db, drop = open(plugin)
	var err error
	for _, path := range paths {
		if err == nil {
			err = createAll(db, path)
		}
	}
	if err != nil {
		drop()
		panic(err)
	}
	return db, drop
}

// open opens a database with empty tables of the plugin's models.
func open(plugin *gormplugin.Plugin) (db *gorm.DB, drop func()) {
	db, drop = connect()
	if err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db)); err != nil {
		drop()
		panic(err)
	}
	return db, drop
}

// connect opens an empty database.
func connect() (db *gorm.DB, drop func()) {
	dsn, dropDatabase, err := testserver.ScratchMySQL(context.Background())
	if err != nil {
		panic(err)
	}
	db, err = gorm.Open(mysql.Open(dsn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		dropDatabase()
		panic(err)
	}
	return db, func() {
		if pool, err := db.DB(); err == nil {
			_ = pool.Close()
		}
		dropDatabase()
	}
}

// createAll creates the suites on the way to a path that are not there yet.
func createAll(db *gorm.DB, path string) error {
	var above *int64
	for _, name := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		s := &Suite{PlanID: 1, ParentID: above, Name: name}
		if err := db.Where(s, "plan_id", "parent_id", "name").FirstOrCreate(s).Error; err != nil {
			return err
		}
		above = &s.ID
	}
	return nil
}

// suiteAt returns the suite of the plan 1 with a path.
func suiteAt(db *gorm.DB, path string) *Suite {
	s := new(Suite)
	if err := db.Take(s, "plan_id = 1 AND path = ?", path).Error; err != nil {
		panic(err)
	}
	return s
}

// hold takes the path lock of a suite for somebody else.
func hold(locker *pathlock.Locker, db *gorm.DB, s *Suite) (release func()) {
	ctx := context.Background()
	at, err := gormplugin.Resolve(db, s, s.ID)
	if err != nil {
		panic(err)
	}
	lock, err := locker.Acquire(ctx, pathlock.Request{Tree: at.Tree, Claims: []pathlock.Claim{pathlock.X(at.Path)}})
	if err != nil {
		panic(err)
	}
	return func() { _ = lock.Release(ctx) }
}

// printPaths prints the paths of the suites that a query finds.
func printPaths(query *gorm.DB) {
	var paths []string
	if err := query.Order("path").Pluck("path", &paths).Error; err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Join(paths, " "))
}
