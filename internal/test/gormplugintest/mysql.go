package gormplugintest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// OnMySQL creates a database on a MySQL or MariaDB server, and drops it after the test. Settings
// are those of the sessions, by MySQL's names, such as {"transaction_isolation":
// "'READ-COMMITTED'"}.
func OnMySQL(t *testing.T, server testserver.MySQLServer, settings map[string]string) Database {
	t.Helper()
	config, err := mysqldriver.ParseDSN(server.DSN)
	testerr.Must(t, err)
	config.ParseTime = true
	// A test that fails may leave a transaction open, for whose end nobody should wait for a day.
	config.Params = maps.Clone(config.Params)
	if config.Params == nil {
		config.Params = make(map[string]string)
	}
	config.Params["lock_wait_timeout"] = "60"
	name := fmt.Sprintf("pathlock_gormplugin_%d", rand.Uint64())
	administer := func(ctx context.Context, statement string) {
		admin := sql.OpenDB(mysqlConnector(t, config))
		defer func() { _ = admin.Close() }()
		testerr.Is(t, statement, testerr.Of(admin.ExecContext(ctx, statement)), nil)
	}
	administer(t.Context(), "CREATE DATABASE "+name+" CHARACTER SET utf8mb4")
	t.Cleanup(func() { administer(context.Background(), "DROP DATABASE "+name) })
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
	return Database{
		Again:        server.Product == testserver.MariaDB, // the driver, and nearly all statements, are MySQL's
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
	testerr.Must(t, err)
	return connector
}
