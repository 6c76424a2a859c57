package redisstore

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// A command that the client sends twice is answered, and counted, once.
func TestCut(t *testing.T) {
	options, err := redis.ParseURL(testserver.Redis(t))
	testerr.Must(t, err)
	testlock.Cut(t, options.Addr, func(addr string) pathlock.Store { return openStore(t, "redis://"+addr) }, newStore(t))
}

// A request that fails because its reply was lost is taken back, if the client tries only once.
func TestCut_leavesNothing(t *testing.T) {
	for _, queued := range []bool{false, true} {
		store, proxy := distant(t, func(o *redis.Options) { o.MaxRetries = -1 })
		other, tree := newStore(t), testlock.Tree(t)
		holder := testlock.Ask(tree, x("/a"))
		if queued {
			testlock.Take(t, other, holder)
		}
		testerr.Must(t, store.Ping(t.Context())) // it is connected
		proxy.CutAt(1, true)
		testerr.MustBe(t, "acquire", testerr.Of(store.Acquire(t.Context(), wait(testlock.Ask(tree, x("/a"))))), pathlock.ErrUnavailable)
		testerr.Must(t, store.Close(t.Context())) // it waits for what goes on in the background
		if queued {
			requireHeld(t, other, holder)
			testlock.Release(t, other, holder)
		}
		requireFree(t, other, tree)
	}
}
