package storetest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// This is all that a store needs in order to be tested.
func TestRun(t *testing.T) {
	storetest.Run(t, func(*testing.T) pathlock.Store { return memstore.New() }, storetest.Virtual())
}
