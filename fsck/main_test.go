package fsck_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

func TestMain(m *testing.M) {
	if err := testserver.SkipExamples("^Example(Checker|New)", testserver.MySQLVariable, testserver.MariaDBVariable); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
