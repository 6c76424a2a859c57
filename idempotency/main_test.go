package idempotency_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
	"gorm.io/driver/mysql"

	"github.com/pathlock-go/pathlock/internal/test/idempotencytest"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

func TestMain(m *testing.M) {
	if idempotencytest.Child(mysql.Open) {
		os.Exit(0)
	}
	// ExampleSchema alone needs no database.
	if err := testserver.SkipExamples("^Example($|Record|Keys|Once|AtLeastOnce)", testserver.MySQLVariable, testserver.MariaDBVariable); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func TestIdempotency_onMySQL(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		idempotencytest.Run(t, idempotencytest.Database{URL: server.Scratch(t), Other: server.Scratch(t), Dialector: mysql.Open})
	})
}
