package redisstore

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
)

// TestSentinels_lateToHear: after a failover, two of three sentinels have not heard of it yet, and
// answer first. A client that knows the new primary keeps to it, as long as a sentinel names it.
func TestSentinels_lateToHear(t *testing.T) {
	t.Parallel()
	before, after := testredis.Start(t, testredis.Redis), testredis.Start(t, testredis.Redis)
	led := testnet.StartProxy(t, testredis.WatchPrimary(t, testredis.Redis, after, 1).Addr, 30*time.Millisecond)
	t.Cleanup(led.Resume)
	late := testredis.WatchPrimary(t, testredis.Redis, before, 0)
	later := testredis.WatchPrimary(t, testredis.Redis, before, 0)
	client := newSentinelClient(testredis.MasterName, []string{led.Addr(), late.Addr, later.Addr}, &redis.Options{}, redis.Options{})
	t.Cleanup(func() { testerr.Must(t, client.Close()) })
	requirePrimary := func(when string, want *testredis.Server) {
		t.Helper()
		if got, err := client.sentinels.look(t.Context()); got != want.Addr || err != nil {
			t.Errorf("%s: the primary is %s, error %v; want %s", when, got, err, want.Addr)
		}
	}

	later.Pause()
	requirePrimary("one that knows the new primary is in the majority", after)
	later.Resume()
	requirePrimary("the majority knows only the old one", after)
	led.Pause()
	requirePrimary("nobody who answers knows the new one", before)
}
