package idempotency_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
	"gorm.io/driver/mysql"

	"github.com/pathlock-go/pathlock/internal/idempotencytest"
)

func TestMain(m *testing.M) {
	if idempotencytest.Child(mysql.Open) {
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
