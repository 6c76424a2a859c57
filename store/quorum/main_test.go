package quorum_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

func TestMain(m *testing.M) {
	if err := testserver.IdleTogether(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
