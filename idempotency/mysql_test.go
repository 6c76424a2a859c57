package idempotency_test

import (
	"testing"

	"gorm.io/driver/mysql"

	"github.com/pathlock-go/pathlock/internal/test/idempotencytest"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

func TestIdempotency_onMySQL(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		idempotencytest.Run(t, idempotencytest.Database{URL: server.Scratch(t), Other: server.Scratch(t), Dialector: mysql.Open})
	})
}
