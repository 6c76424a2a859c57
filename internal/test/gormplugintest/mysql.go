package gormplugintest

import (
	"database/sql"
	"maps"
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
	own, err := mysqldriver.ParseDSN(server.Scratch(t))
	testerr.Must(t, err)
	own.ParseTime = true
	// A test that fails may leave a transaction open, for whose end nobody should wait for a day.
	params := map[string]string{"lock_wait_timeout": "60"}
	maps.Copy(params, own.Params)
	maps.Copy(params, settings)
	own.Params = params
	collation := "utf8mb4_0900_bin"
	if server.Product == testserver.MariaDB {
		collation = "utf8mb4_nopad_bin"
		if isolation, ok := own.Params["transaction_isolation"]; ok {
			delete(own.Params, "transaction_isolation")
			own.Params["tx_isolation"] = isolation
		}
	}
	connector, err := mysqldriver.NewConnector(own)
	testerr.Must(t, err)
	return Database{
		Again:        server.Product == testserver.MariaDB, // the driver, and nearly all statements, are MySQL's
		Connector:    connector,
		Dialector:    func(pool *sql.DB) gorm.Dialector { return mysql.New(mysql.Config{Conn: pool}) },
		TableOptions: "COLLATE " + collation,
		GivenUp:      &mysqldriver.MySQLError{Number: 1213, Message: "Deadlock found when trying to get lock; try restarting transaction"},
	}
}
