package storetest_test

import (
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/storetest"
)

// A store runs the suite from a test of its own.
func ExampleRun() {
	testConformance := func(t *testing.T) {
		storetest.Run(t, func(*testing.T) pathlock.Store { return memstore.New() })
	}
	_ = testConformance // TestConformance, at the top level of a file of tests
}

// Where clients of one server can die, the suite has one of them die while it holds and waits.
func ExampleCrash() {
	clients := func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
		server := memstore.New()
		client := &mortal{Store: server, dead: make(chan struct{})}
		t.Cleanup(client.under.Wait)
		return server, client, func() { close(client.dead) }
	}
	testConformance := func(t *testing.T) {
		storetest.Run(t, func(*testing.T) pathlock.Store { return memstore.New() }, storetest.Crash(clients))
	}
	_ = testConformance // TestConformance, at the top level of a file of tests
}

// Where a server can be stopped, the suite sees whether calls end in time, and what comes of them
// afterwards.
func ExampleSilence() {
	silent := func(*testing.T) storetest.Silent {
		server := memstore.New()
		return storetest.Silent{Store: server, Other: server, Timeout: time.Second, Stop: func() {}, Resume: func() {}}
	}
	testConformance := func(t *testing.T) {
		storetest.Run(t, func(*testing.T) pathlock.Store { return memstore.New() }, storetest.Silence(silent))
	}
	_ = testConformance // TestConformance, at the top level of a file of tests
}

// A store whose calls take long where many suites share its server has longer leases end.
func ExampleLeases() {
	testConformance := func(t *testing.T) {
		storetest.Run(t, func(*testing.T) pathlock.Store { return memstore.New() }, storetest.Leases(time.Second))
	}
	_ = testConformance // TestConformance, at the top level of a file of tests
}
