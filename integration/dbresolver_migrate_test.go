package integration

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/plugin/dbresolver"
)

// With dbresolver, a migration takes place on one connection of the DB's own. The replica, another
// database here, is neither read nor written.
func TestDBResolverAutoMigrate(t *testing.T) {
	t.Parallel()
	opener := func() func() gorm.Dialector {
		d := postgresDatabase(t, byteOrder, nil)
		return func() gorm.Dialector { return d.Dialector(poolOf(t, d.Connector)) }
	}
	source, replica := opener(), opener()
	migrateResolved(t, source(), source()) // whose lock is let go where it was taken
	db := migrateResolved(t, source(), replica())
	on, err := gorm.Open(replica(), &gorm.Config{Logger: logger.Discard})
	must(t, err)
	for _, table := range []string{"branches", "others"} {
		if !db.Clauses(dbresolver.Write).Migrator().HasTable(table) || on.Migrator().HasTable(table) {
			t.Errorf("the table %s is not in the source alone", table)
		}
	}
}

// poolOf opens a pool until the end of the test.
func poolOf(t *testing.T, connector driver.Connector) *sql.DB {
	t.Helper()
	pool := sql.OpenDB(connector)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// migrateResolved has an instance start that reads from a replica.
func migrateResolved(t *testing.T, source, replica gorm.Dialector) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(source, &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	for _, plugin := range []gorm.Plugin{
		gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&gormplugintest.Branch{})),
		dbresolver.Register(dbresolver.Config{Replicas: []gorm.Dialector{replica}}),
	} {
		if err := db.Use(plugin); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := gormplugin.AutoMigrate(db.WithContext(ctx), &gormplugintest.Other{}); err != nil {
		t.Fatal(err)
	}
	finds(t, db)
	return db
}
