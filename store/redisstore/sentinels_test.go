package redisstore

import (
	"cmp"
	"context"
	"errors"
	"net"
	"sync/atomic"
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

// TestSentinels_looksOvertakeEachOther: a look from before the failover ends after a look that has
// found the new primary. It must not send the client back.
func TestSentinels_looksOvertakeEachOther(t *testing.T) {
	t.Parallel()
	before, after := testredis.Start(t, testredis.Redis), testredis.Start(t, testredis.Redis)
	old := testredis.WatchPrimary(t, testredis.Redis, before, 0)
	led := testredis.WatchPrimary(t, testredis.Redis, after, 1)
	client := newSentinelClient(testredis.MasterName, []string{old.Addr, led.Addr}, &redis.Options{}, redis.Options{})
	t.Cleanup(func() { testerr.Must(t, client.Close()) })
	s := client.sentinels
	replied, failed, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s.asked[0].AddHook(onFirst{&atomic.Int32{}, func() error {
		close(replied)
		<-goOn
		return nil
	}, errors.New("it hangs")})
	s.asked[1].AddHook(onFirst{&atomic.Int32{}, func() error {
		close(failed)
		return errors.New("it hangs")
	}, nil})
	slow := make(chan string)
	go func() {
		found, err := s.look(t.Context())
		testerr.None(t, err)
		slow <- found
	}()
	<-replied
	<-failed
	found, err := s.look(t.Context())
	testerr.Must(t, err)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", after.Addr)
	testerr.Must(t, err)
	kept := s.keep(conn, after.Addr)
	close(goOn)
	if late := <-slow; found != after.Addr || late != after.Addr {
		t.Errorf("the looks have found %s and then %s, want %s", found, late, after.Addr)
	}
	if err := kept.Close(); err != nil {
		t.Errorf("the connection to the new primary has been closed: %v", err)
	}
}

// onFirst is a hook that follows the first question with a call, and fails all others.
type onFirst struct {
	commands *atomic.Int32
	first    func() error
	later    error
}

func (onFirst) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h onFirst) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if cmd.Name() != "sentinel" { // but one of those that set up the connection
			return err
		}
		if h.commands.Add(1) == 1 {
			err = cmp.Or(h.first(), err)
		} else {
			err = cmp.Or(h.later, err)
		}
		cmd.SetErr(err)
		return err
	}
}

func (onFirst) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
