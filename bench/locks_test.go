package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// One acquisition and its release, in a tree that nobody else uses.
func BenchmarkLatency(b *testing.B) {
	for _, depth := range []int{3, 8, 15} {
		for _, c := range []contender{viaRedislock, viaObtainMulti, viaStore, viaLocker} {
			b.Run(fmt.Sprintf("depth=%d/lock=%s", depth, c.name), func(b *testing.B) {
				l := c.open(b)(rand.Text(), leafAt(depth, "case"))
				for b.Loop() {
					testerr.Must(b, l.acquire(b.Context(), false))
					testerr.Must(b, l.release(b.Context()))
				}
			})
		}
	}
}

// The time from the beginning of a release to the grant of the only waiter, in another process.
func BenchmarkWakeUp(b *testing.B) {
	for _, c := range []contender{viaRueidislock, viaRedislock, viaStore, viaLocker} {
		b.Run("lock="+c.name, func(b *testing.B) {
			tree, leaf := rand.Text(), leafAt(3, "case")
			reportHandOvers(b, c.open(b)(tree, leaf), c.open(b)(tree, leaf), func() time.Duration {
				// It is in no step with the questions of one that polls.
				return 20*time.Millisecond + time.Duration(mathrand.Int64N(int64(pollPause)))
			})
		})
	}
}

// reportHandOvers has one lock wait for the other, again and again, and reports the time from
// release to grant. No kind of lock tells that its waiter has begun to wait: there is a pause.
func reportHandOvers(b *testing.B, holder, waiter lock, pause func() time.Duration) {
	b.Helper()
	var total time.Duration
	for b.Loop() {
		testerr.Must(b, holder.acquire(b.Context(), false))
		granted := make(chan time.Time, 1)
		go func() {
			testerr.None(b, waiter.acquire(b.Context(), true))
			granted <- time.Now()
		}()
		time.Sleep(pause())
		start := time.Now()
		testerr.Must(b, holder.release(b.Context()))
		total += (<-granted).Sub(start)
		if b.Failed() {
			b.FailNow()
		}
		testerr.Must(b, waiter.release(b.Context()))
	}
	b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "ns/grant")
	b.ReportMetric(0, "ns/op") // it is the pause before the release, for the most part
}

const (
	// lease is longer than any measurement.
	lease = 10 * time.Minute
	// pollPause is how long a waiter of redislock, which gets no message, pauses between two tries.
	pollPause = 100 * time.Millisecond
)

// lock locks one leaf, and the nodes above it where it knows any. One goroutine uses it.
type lock struct {
	// acquire takes the lock. If others hold it, it waits, or fails at once.
	acquire func(ctx context.Context, wait bool) error
	release func(ctx context.Context) error
}

// contender is a kind of locks in Redis. open connects, as a process does, and returns the lock of
// a leaf in a tree.
type contender struct {
	name string
	open func(b *testing.B) func(tree string, leaf pathlock.Path) lock
}

// leafAt returns a path of depth names.
func leafAt(depth int, name string) pathlock.Path {
	return pathlock.MustParsePath(strings.Repeat("/suite", depth-1) + "/" + name)
}

func treeOf(b *testing.B, id string) pathlock.Tree {
	b.Helper()
	tree, err := pathlock.NewTree("bench", id)
	testerr.Must(b, err)
	return tree
}

func newRedis(b *testing.B, url string) *redis.Client {
	b.Helper()
	o, err := redis.ParseURL(url)
	testerr.Must(b, err)
	o.ContextTimeoutEnabled = true // as redisstore asks for
	client := redis.NewClient(o)
	b.Cleanup(func() { _ = client.Close() })
	return client
}

// newStore returns a store with a connection pool of its own, as in a process of its own.
func newStore(b *testing.B, url string) pathlock.Store {
	b.Helper()
	store := redisstore.New(newRedis(b, url))
	b.Cleanup(func() { _ = store.Close(context.Background()) })
	return store
}

// viaStore is the store as a locker drives it: each acquisition has a new owner.
var viaStore = contender{"pathlock.Store", func(b *testing.B) func(string, pathlock.Path) lock {
	store := newStore(b, testserver.Redis(b))
	return func(tree string, leaf pathlock.Path) lock {
		name, count := rand.Text(), 0
		req := pathlock.Acquisition{Tree: treeOf(b, tree), Grant: "1", Claims: pathlock.Normalize(pathlock.X(leaf)), Lease: lease}
		return lock{func(ctx context.Context, wait bool) error {
			count++
			req.Owner, req.Wait = pathlock.Owner(fmt.Sprint(name, "-", count)), 0
			if wait {
				req.Wait = time.Minute
			}
			return testerr.Of(store.Acquire(ctx, req))
		}, func(ctx context.Context) error { return store.Release(ctx, req.Tree, req.Owner, req.Grant) }}
	}
}}

// viaLocker is what programs use: scopes, folded names and renewal on top of the store.
var viaLocker = contender{"pathlock.Locker", func(b *testing.B) func(string, pathlock.Path) lock {
	locker := newLocker(newStore(b, testserver.Redis(b)))
	return func(tree string, leaf pathlock.Path) lock { return lockOf(locker, treeOf(b, tree), leaf) }
}}

func newLocker(store pathlock.Store) *pathlock.Locker {
	return pathlock.New(store, pathlock.WithLease(lease), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
}

func lockOf(locker *pathlock.Locker, tree pathlock.Tree, leaf pathlock.Path) lock {
	var held *pathlock.Lock
	return lock{func(ctx context.Context, wait bool) (err error) {
		req := pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(leaf)}, Wait: pathlock.NoWait}
		if wait {
			req.Wait = time.Minute
		}
		held, err = locker.Acquire(ctx, req)
		return err
	}, func(ctx context.Context) error { return held.Release(ctx) }}
}

// viaRedislock is what most programs do: one key, the leaf's. Its waiters ask again and again.
var viaRedislock = contender{"redislock", openRedislock(func(tree string, leaf pathlock.Path) []string { return []string{keyOf(tree, leaf)} })}

// viaObtainMulti locks the same nodes as pathlock does, all of them exclusively.
var viaObtainMulti = contender{"ObtainMulti", openRedislock(func(tree string, leaf pathlock.Path) []string {
	var keys []string
	for node := range leaf.Ancestors() {
		keys = append(keys, keyOf(tree, node))
	}
	return append(keys, keyOf(tree, leaf))
})}

func keyOf(tree string, node pathlock.Path) string { return "bench:{" + tree + "}" + node.String() }

func openRedislock(keys func(tree string, leaf pathlock.Path) []string) func(b *testing.B) func(string, pathlock.Path) lock {
	return func(b *testing.B) func(string, pathlock.Path) lock {
		client := redislock.New(newRedis(b, testserver.Redis(b)))
		return func(tree string, leaf pathlock.Path) lock {
			var held *redislock.Lock
			keys := keys(tree, leaf)
			return lock{func(ctx context.Context, wait bool) (err error) {
				var options *redislock.Options
				if wait {
					options = &redislock.Options{RetryStrategy: redislock.LinearBackoff(pollPause)}
				}
				if len(keys) == 1 {
					held, err = client.Obtain(ctx, keys[0], lease, options)
				} else {
					held, err = client.ObtainMulti(ctx, keys, lease, options)
				}
				return err
			}, func(ctx context.Context) error { return held.Release(ctx) }}
		}
	}
}

// viaRueidislock has one key, as suits one server, and is woken by client-side caching. The option
// for Redis 7.0.5 and newer is set, as its documentation recommends.
var viaRueidislock = contender{"rueidislock", func(b *testing.B) func(string, pathlock.Path) lock {
	o, err := rueidis.ParseURL(testserver.Redis(b))
	testerr.Must(b, err)
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: o, KeyPrefix: "bench", KeyMajority: 1, KeyValidity: lease, TryNextAfter: time.Second, NoLoopTracking: true,
	})
	testerr.Must(b, err)
	b.Cleanup(locker.Close)
	return func(tree string, leaf pathlock.Path) lock {
		var end context.CancelFunc
		return lock{func(ctx context.Context, wait bool) (err error) {
			if !wait {
				_, end, err = locker.TryWithContext(ctx, keyOf(tree, leaf))
				return err
			}
			end, err = patiently(ctx, locker, keyOf(tree, leaf))
			return err
		}, func(context.Context) error { end(); return nil }}
	}
}}

// patiently asks again after a second without an answer: v1.0.79 rarely forgets a waiter whose
// process runs on several CPUs.
func patiently(ctx context.Context, locker rueidislock.Locker, key string) (end context.CancelFunc, err error) {
	for ctx.Err() == nil {
		attempt, giveUp := context.WithCancel(ctx) // the lock lives no longer than this
		impatient := time.AfterFunc(time.Second, giveUp)
		_, end, err = locker.WithContext(attempt, key)
		if impatient.Stop() {
			return end, err
		}
		if err == nil {
			end() // granted at the very end of the attempt
		}
	}
	return nil, ctx.Err()
}
