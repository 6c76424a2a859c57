package contender_test

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startRedis starts a server for one test, or skips the test. In CI, it fails instead.
func startRedis(t *testing.T) contender.Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		testserver.Missing(t, err.Error())
	}
	server, err := redisserver.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return contender.Server{URL: server.URL(), Prefix: "bench-test"}
}

// eachContender runs a test for every contender that excludes.
func eachContender(t *testing.T, test func(t *testing.T, c contender.Contender, at contender.Server)) {
	at := startRedis(t)
	for _, list := range [][]contender.Contender{contender.Redis(), contender.Local()} {
		for _, c := range list {
			if c.Excludes {
				t.Run(c.Name, func(t *testing.T) { test(t, c, at) })
			}
		}
	}
}

func open(t *testing.T, c contender.Contender, at contender.Server) contender.Locks {
	t.Helper()
	locks, err := c.Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := locks.Close(); err != nil {
			t.Error(err)
		}
	})
	return locks
}

func lockOf(t *testing.T, locks contender.Locks, tree, path string) contender.Lock {
	t.Helper()
	lock, err := locks.Lock(tree, pathlock.MustParsePath(path))
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

func acquire(t *testing.T, lock contender.Lock) {
	t.Helper()
	if err := lock.Acquire(t.Context()); err != nil {
		t.Fatalf("acquiring: %v", err)
	}
}

func release(t *testing.T, lock contender.Lock) {
	t.Helper()
	if err := lock.Release(t.Context()); err != nil {
		t.Fatalf("releasing: %v", err)
	}
}

// A contender that does not exclude is cheap, and a comparison with it is worthless.
func TestEveryContenderExcludes(t *testing.T) {
	eachContender(t, func(t *testing.T, c contender.Contender, at contender.Server) {
		locks := open(t, c, at)
		first, second := lockOf(t, locks, c.Name, "/a/b/c"), lockOf(t, locks, c.Name, "/a/b/c")
		for range 2 { // once more after everything was given back
			acquire(t, first)
			if err := second.Acquire(t.Context()); !errors.Is(err, contender.ErrHeld) {
				t.Fatalf("a second acquisition of what is held: %v, want ErrHeld", err)
			}
			release(t, first)
			acquire(t, second)
			if err := first.Acquire(t.Context()); !errors.Is(err, contender.ErrHeld) {
				t.Fatalf("the first after it was given back: %v, want ErrHeld", err)
			}
			release(t, second)
		}
	})
}

// Shares decides who takes part when goroutines share a tree. A contender that conflicts there
// would measure failures.
func TestSharesIsWhetherSiblingsAreIndependent(t *testing.T) {
	eachContender(t, func(t *testing.T, c contender.Contender, at contender.Server) {
		locks := open(t, c, at)
		first, second := lockOf(t, locks, c.Name+" siblings", "/a/b/c"), lockOf(t, locks, c.Name+" siblings", "/a/b/d")
		acquire(t, first)
		err := second.Acquire(t.Context())
		if shared := err == nil; shared != c.Shares {
			t.Fatalf("the sibling of what is held: %v, Shares is %v", err, c.Shares)
		}
		if err == nil {
			release(t, second)
		}
		release(t, first)
	})
}

// A contender that counts as one of subtree locks has to lock subtrees.
func TestSubtreesAreLocked(t *testing.T) {
	oneNode := map[string]bool{contender.Redislock: true, contender.Redsync: true, contender.Rueidislock: true}
	eachContender(t, func(t *testing.T, c contender.Contender, at contender.Server) {
		locks := open(t, c, at)
		above, below := lockOf(t, locks, c.Name+" subtree", "/a/b"), lockOf(t, locks, c.Name+" subtree", "/a/b/c")
		for _, pair := range [][2]contender.Lock{{above, below}, {below, above}} {
			acquire(t, pair[0])
			err := pair[1].Acquire(t.Context())
			if oneNode[c.Name] != (err == nil) || err != nil && !errors.Is(err, contender.ErrHeld) {
				t.Fatalf("a node above or below of what is held: %v; one key alone is locked: %v", err, oneNode[c.Name])
			}
			if err == nil {
				release(t, pair[1])
			}
			release(t, pair[0])
			// Nothing remains of the path to it.
			acquire(t, pair[1])
			release(t, pair[1])
		}
	})
}

func TestWaitersAreGrantedAfterTheRelease(t *testing.T) {
	eachContender(t, func(t *testing.T, c contender.Contender, at contender.Server) {
		holder := lockOf(t, open(t, c, at), c.Name+" waiting", "/a")
		waiter, ok := lockOf(t, open(t, c, at), c.Name+" waiting", "/a").(contender.Waiter)
		if !ok || c.Name == contender.Memory || c.Name == contender.MemLocker {
			t.Skip("it does not wait, or not for another process")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		acquire(t, holder)
		granted := make(chan error)
		go func() { granted <- waiter.Wait(ctx) }()
		select {
		case err := <-granted:
			t.Fatalf("granted while another holds: %v", err)
		case <-time.After(50 * time.Millisecond): // long enough for a wrong grant to show
		}
		release(t, holder)
		if err := <-granted; err != nil {
			t.Fatal(err)
		}
		if err := holder.Acquire(ctx); !errors.Is(err, contender.ErrHeld) {
			t.Fatalf("while the waiter has it: %v, want ErrHeld", err)
		}
		release(t, waiter)
	})
}

// On a server without a replica, one of the two waits in vain.
func TestReplicasDifferInWhetherTheyWaitForOne(t *testing.T) {
	at := startRedis(t)
	for _, c := range contender.Replicas() {
		t.Run(c.Name, func(t *testing.T) {
			lock := lockOf(t, open(t, c, at), c.Name, "/a/b/c")
			err := lock.Acquire(t.Context())
			if waits := c.Name == contender.Replicated; waits != errors.Is(err, pathlock.ErrUnavailable) || !waits && err != nil {
				t.Errorf("without a replica: %v", err)
			}
		})
	}
}
