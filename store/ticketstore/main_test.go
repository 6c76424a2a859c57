package ticketstore_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

func TestMain(m *testing.M) {
	if err := testserver.WaitTogether(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
