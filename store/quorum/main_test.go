package quorum_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/internal/testprocesses"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

func TestMain(m *testing.M) {
	if testprocesses.Main(openServers) {
		return
	}
	if err := testserver.IdleTogether(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
