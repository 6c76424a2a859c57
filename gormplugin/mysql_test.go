package gormplugin_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
)

// mysqlDatabase makes a database on a server, and drops it afterwards. Settings are
// the session's, by MySQL's names, such as {"transaction_isolation": "'READ-COMMITTED'"}.
func mysqlDatabase(t *testing.T, server testserver.MySQLServer, settings map[string]string) gormplugintest.Database {
	t.Helper()
	config, err := mysqldriver.ParseDSN(server.DSN)
	must(t, err)
	config.ParseTime = true
	// A test that fails may leave a transaction open, for whose end nobody should wait for a day.
	config.Params = maps.Clone(config.Params)
	if config.Params == nil {
		config.Params = make(map[string]string)
	}
	config.Params["lock_wait_timeout"] = "60"
	admin := sql.OpenDB(mysqlConnector(t, config))
	defer func() { _ = admin.Close() }()
	name := fmt.Sprintf("pathlock_gormplugin_%d", rand.Uint64())
	_, err = admin.ExecContext(t.Context(), "CREATE DATABASE "+name+" CHARACTER SET utf8mb4")
	must(t, err)
	t.Cleanup(func() {
		admin := sql.OpenDB(mysqlConnector(t, config))
		defer func() { _ = admin.Close() }()
		if _, err := admin.ExecContext(context.Background(), "DROP DATABASE "+name); err != nil {
			t.Error(err)
		}
	})
	own := config.Clone()
	own.DBName = name
	maps.Copy(own.Params, settings)
	collation := "utf8mb4_0900_bin"
	if server.Product == testserver.MariaDB {
		collation = "utf8mb4_nopad_bin"
		if isolation, ok := own.Params["transaction_isolation"]; ok {
			delete(own.Params, "transaction_isolation")
			own.Params["tx_isolation"] = isolation
		}
	}
	return gormplugintest.Database{
		Connector:    mysqlConnector(t, own),
		Dialector:    func(pool *sql.DB) gorm.Dialector { return mysql.New(mysql.Config{Conn: pool}) },
		TableOptions: "COLLATE " + collation,
		GivenUp:      &mysqldriver.MySQLError{Number: 1213, Message: "Deadlock found when trying to get lock; try restarting transaction"},
	}
}

// mysqlConnector connects as config says.
func mysqlConnector(t *testing.T, config *mysqldriver.Config) driver.Connector {
	t.Helper()
	connector, err := mysqldriver.NewConnector(config)
	must(t, err)
	return connector
}

// What is done in turn, which the race detector watches on PostgreSQL.
func TestMySQL(t *testing.T) {
	testserver.NotUnderRace(t)
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		d := mysqlDatabase(t, server, nil)
		gormplugintest.RunStatements(t, d)
		gormplugintest.RunTransactions(t, d)
	})
}

func TestMySQLRaces(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		gormplugintest.RunRaces(t, mysqlDatabase(t, server, nil))
	})
}

// Whatever the lock store does, the tree is sound: at every isolation level, whether the session
// has it or the transactions ask for it.
func TestMySQLStorms(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		// One product for each level will do.
		levels := map[string][]string{testserver.MariaDB: {"READ-UNCOMMITTED", "SERIALIZABLE"}, testserver.Oracle: {"READ-COMMITTED"}}[server.Product]
		for _, level := range levels {
			t.Run(level, func(t *testing.T) {
				t.Parallel()
				d := mysqlDatabase(t, server, map[string]string{"transaction_isolation": "'" + level + "'"})
				d.DirtyReads = level == "READ-UNCOMMITTED"
				gormplugintest.RunStorms(t, d)
			})
		}
		t.Run("mixed", func(t *testing.T) {
			t.Parallel()
			gormplugintest.RunStorms(t, mysqlDatabase(t, server, nil), sql.LevelDefault, sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable)
		})
	})
}
