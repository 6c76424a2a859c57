package idempotency_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"
	"gorm.io/driver/mysql"

	"github.com/pathlock-go/pathlock/internal/test/idempotencytest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

func TestIdempotency_onMySQL(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		idempotencytest.Run(t, idempotencytest.Database{URL: scratch(t, server.DSN), Other: scratch(t, server.DSN), Dialector: mysql.Open})
	})
}

// scratch makes a database, and drops it at the end of the test. It returns its DSN.
func scratch(t *testing.T, server string) string {
	t.Helper()
	config, err := mysqldriver.ParseDSN(server)
	testerr.Must(t, err)
	name := fmt.Sprintf("pathlock_idempotency_%d", rand.Uint64())
	administer := func(ctx context.Context, statement string) {
		connector, err := mysqldriver.NewConnector(config)
		testerr.Must(t, err)
		admin := sql.OpenDB(connector)
		defer func() { _ = admin.Close() }()
		testerr.None(t, testerr.Of(admin.ExecContext(ctx, statement+name)))
	}
	administer(t.Context(), "CREATE DATABASE ")
	t.Cleanup(func() { administer(context.Background(), "DROP DATABASE ") })
	own := config.Clone()
	own.DBName = name
	return own.FormatDSN()
}
