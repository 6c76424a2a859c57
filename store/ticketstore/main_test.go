package ticketstore_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

func TestMain(m *testing.M) {
	if err := testserver.WaitTogether(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
