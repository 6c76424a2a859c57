package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
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

const (
	// lease is longer than any measurement.
	lease = 10 * time.Minute
	// pollPause is how long a waiter of redislock, which gets no message, pauses between two tries.
	pollPause = 100 * time.Millisecond
)

// lock locks one leaf, and the nodes above it where it knows any. One goroutine uses it.
type lock interface {
	// acquire takes the lock. If others hold it, it waits, or fails at once.
	acquire(ctx context.Context, wait bool) error
	release(ctx context.Context) error
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
		return &storeLock{store: store, name: rand.Text(), request: pathlock.Acquisition{
			Tree: treeOf(b, tree), Grant: "1", Claims: pathlock.Normalize(pathlock.X(leaf)), Lease: lease,
		}}
	}
}}

type storeLock struct {
	store   pathlock.Store
	name    string
	count   int
	request pathlock.Acquisition
}

func (l *storeLock) acquire(ctx context.Context, wait bool) error {
	l.count++
	l.request.Owner, l.request.Wait = pathlock.Owner(fmt.Sprint(l.name, "-", l.count)), 0
	if wait {
		l.request.Wait = time.Minute
	}
	_, err := l.store.Acquire(ctx, l.request)
	return err
}

func (l *storeLock) release(ctx context.Context) error {
	return l.store.Release(ctx, l.request.Tree, l.request.Owner, l.request.Grant)
}

// viaLocker is what programs use: scopes, folded names and renewal on top of the store.
var viaLocker = contender{"pathlock.Locker", func(b *testing.B) func(string, pathlock.Path) lock {
	locker := newLocker(newStore(b, testserver.Redis(b)))
	return func(tree string, leaf pathlock.Path) lock {
		return &lockerLock{locker: locker, request: pathlock.Request{Tree: treeOf(b, tree), Claims: []pathlock.Claim{pathlock.X(leaf)}}}
	}
}}

func newLocker(store pathlock.Store, opts ...pathlock.Option) *pathlock.Locker {
	return pathlock.New(store, append(opts, pathlock.WithLease(lease), pathlock.WithLogger(slog.New(slog.DiscardHandler)))...)
}

type lockerLock struct {
	locker  *pathlock.Locker
	request pathlock.Request
	held    *pathlock.Lock
}

func (l *lockerLock) acquire(ctx context.Context, wait bool) (err error) {
	l.request.Wait = pathlock.NoWait
	if wait {
		l.request.Wait = time.Minute
	}
	l.held, err = l.locker.Acquire(ctx, l.request)
	return err
}

func (l *lockerLock) release(ctx context.Context) error { return l.held.Release(ctx) }

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
			return &redislockLock{client: client, keys: keys(tree, leaf)}
		}
	}
}

type redislockLock struct {
	client *redislock.Client
	keys   []string
	held   *redislock.Lock
}

func (l *redislockLock) acquire(ctx context.Context, wait bool) (err error) {
	var options *redislock.Options
	if wait {
		options = &redislock.Options{RetryStrategy: redislock.LinearBackoff(pollPause)}
	}
	if len(l.keys) == 1 {
		l.held, err = l.client.Obtain(ctx, l.keys[0], lease, options)
	} else {
		l.held, err = l.client.ObtainMulti(ctx, l.keys, lease, options)
	}
	return err
}

func (l *redislockLock) release(ctx context.Context) error { return l.held.Release(ctx) }

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
		return &rueidisLock{locker: locker, key: keyOf(tree, leaf)}
	}
}}

type rueidisLock struct {
	locker rueidislock.Locker
	key    string
	end    context.CancelFunc
}

// acquire asks again after a second without an answer: v1.0.79 rarely forgets a waiter whose
// process runs on several CPUs.
func (l *rueidisLock) acquire(ctx context.Context, wait bool) (err error) {
	if !wait {
		_, l.end, err = l.locker.TryWithContext(ctx, l.key)
		return err
	}
	for ctx.Err() == nil {
		attempt, giveUp := context.WithCancel(ctx) // the lock lives no longer than this
		impatient := time.AfterFunc(time.Second, giveUp)
		_, l.end, err = l.locker.WithContext(attempt, l.key)
		if impatient.Stop() {
			return err
		}
		if err == nil {
			l.end() // granted at the very end of the attempt
		}
	}
	return ctx.Err()
}

func (l *rueidisLock) release(context.Context) error { l.end(); return nil }
