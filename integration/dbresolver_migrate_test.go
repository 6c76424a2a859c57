package integration

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/plugin/dbresolver"
)

// With dbresolver, a migration takes place on one connection of the DB's own. The replica, another
// database here, is neither read nor written.
func TestDBResolverAutoMigrate(t *testing.T) {
	t.Parallel()
	migratesBesideResolver(t, func(t *testing.T, source, replica func() gorm.Dialector) {
		migrateResolved(t, source(), replica())
		db := migrateResolved(t, source(), replica())
		on, err := gorm.Open(replica(), &gorm.Config{Logger: logger.Discard})
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"branches", "others"} {
			if !db.Clauses(dbresolver.Write).Migrator().HasTable(table) || on.Migrator().HasTable(table) {
				t.Errorf("the table %s is not in the source alone", table)
			}
		}
	})
}

// The lock of a migration is released where it was taken, also where dbresolver has a pool to read
// from and one to write to, so that the next instance need not wait for it.
func TestDBResolverMigrationLock(t *testing.T) {
	t.Parallel()
	migratesBesideResolver(t, func(t *testing.T, source, _ func() gorm.Dialector) {
		for range 2 {
			migrateResolved(t, source(), source())
		}
	})
}

// migratesBesideResolver runs a test on two databases, to each of which it can open several pools.
func migratesBesideResolver(t *testing.T, test func(t *testing.T, source, replica func() gorm.Dialector)) {
	t.Helper()
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		opener := func() func() gorm.Dialector {
			connector := mysqlDatabase(t, server)
			return func() gorm.Dialector { return mysql.New(mysql.Config{Conn: poolOf(t, connector)}) }
		}
		test(t, opener(), opener())
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		opener := func() func() gorm.Dialector {
			d := postgresDatabase(t, byteOrder, nil)
			return func() gorm.Dialector { return d.Dialector(poolOf(t, d.Connector)) }
		}
		test(t, opener(), opener())
	})
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

// mysqlDatabase makes a database that ends with the test.
func mysqlDatabase(t *testing.T, server testserver.MySQLServer) driver.Connector {
	t.Helper()
	config, err := mysqldriver.ParseDSN(server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	config.ParseTime = true
	admin, err := sql.Open("mysql", server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close() })
	name := fmt.Sprintf("pathlock_integration_%d", rand.Uint64())
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name+" CHARACTER SET utf8mb4"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.ExecContext(context.Background(), "DROP DATABASE "+name); err != nil {
			t.Error(err)
		}
	})
	config.DBName = name
	connector, err := mysqldriver.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	return connector
}
