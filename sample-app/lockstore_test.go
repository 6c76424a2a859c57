package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// An instance says that it has another lock store than those before it, also where that did not
// answer at its start.
func TestServe_AnotherLockStore(t *testing.T) {
	const another = "see that all instances have the same lock store"
	redis, db := testredis.Start(t, testredis.Redis), testdb.SQLite(t)
	args := []string{"--addr", "127.0.0.1:0", "--db", db, "--locks"}
	first := started(t, program(t, slices.Concat(args, []string{"sqlite://" + t.TempDir() + "/locks.db"})...))
	testserver.Await(t, "the first instance serves", func() bool { return strings.Contains(first.String(), instance.Listening) })
	redis.Pause()
	second := started(t, program(t, slices.Concat(args, []string{"redis://" + redis.Addr + "/0"})...))
	testserver.Await(t, "the lock store does not answer", func() bool { return strings.Contains(second.String(), "nothing is written until it serves") })
	if strings.Contains(second.String(), another) {
		t.Errorf("before the lock store answers: %s", second)
	}
	redis.Resume()
	testserver.Await(t, "the other lock store is told", func() bool { return strings.Contains(second.String(), another) })
}
