package quorum_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

func TestMain(m *testing.M) {
	if servers := os.Getenv(childServers); servers != "" {
		if err := beChild(servers); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	if err := testserver.IdleTogether(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
