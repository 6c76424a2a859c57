package storetest_test

import (
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/storetest"
)

// A store runs the suite from a test of its own. The options are for stores with servers.
func ExampleRun() {
	// One of two clients dies while it holds and waits.
	clients := func(*testing.T) (survivor, victim pathlock.Store, crash func()) {
		server := memstore.New()
		return server, server, func() {} // which cuts the network of a client
	}
	// The server stops. Calls end in time, and have no effect afterwards.
	silent := func(*testing.T) storetest.Silent {
		server := memstore.New()
		return storetest.Silent{Store: server, Other: server, Timeout: time.Second, Stop: func() {}, Resume: func() {}}
	}
	testConformance := func(t *testing.T) {
		storetest.Run(t, func(*testing.T) pathlock.Store { return memstore.New() },
			storetest.Crash(clients), storetest.Silence(silent),
			storetest.Leases(time.Second)) // calls take long on a server that many suites share
	}
	_ = testConformance // TestConformance, at the top level of a file of tests
}
