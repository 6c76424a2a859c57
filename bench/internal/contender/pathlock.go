package contender

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

const pathlockModule = "github.com/pathlock-go/pathlock"

// waitLimit bounds waits, so that a lost wake-up fails the measurement and does not hang it.
const waitLimit = time.Minute

// replication is how long a replica may take to confirm a grant. Then the grant fails.
const replication = time.Second

// storeOpener opens a store, and returns a function that closes it.
type storeOpener func(at Server) (pathlock.Store, func() error, error)

// pathlockRedis returns this project's contenders in Redis. A store with another client is another
// pair here.
func pathlockRedis() []Contender {
	return []Contender{
		direct(Store, openRedisStore()),
		locked(Locker, openRedisStore()),
	}
}

// Replicas returns the store with its defaults, and the store that waits until a grant is on a
// replica. The server needs a replica.
func Replicas() []Contender {
	return []Contender{
		direct(Store, openRedisStore()),
		direct(Replicated, openRedisStore(redisstore.WithReplicas(1, replication))),
	}
}

// pathlockLocal returns this project's contenders in memory.
func pathlockLocal() []Contender {
	return []Contender{
		direct(Memory, openMemStore),
		locked(MemLocker, openMemStore),
	}
}

func openRedisStore(opts ...redisstore.Option) storeOpener {
	return func(at Server) (pathlock.Store, func() error, error) {
		client, err := at.Client()
		if err != nil {
			return nil, nil, err
		}
		store := redisstore.New(client, slices.Concat(opts, []redisstore.Option{redisstore.WithPrefix(at.Prefix)})...)
		return store, func() error { return errors.Join(store.Close(context.Background()), client.Close()) }, nil
	}
}

func openMemStore(Server) (pathlock.Store, func() error, error) {
	return memstore.New(), func() error { return nil }, nil
}

// direct is a store without a locker, where each acquisition has a new owner. Owners are as long as
// a locker's, but are counted. Making them unguessable is the work of a locker, and part of its
// row.
func direct(name string, open storeOpener) Contender {
	return Contender{
		Name: name, Module: pathlockModule, Excludes: true, Shares: true,
		What: "pathlock.Store: X on the leaf, IX on every node above it, normalised beforehand",
		Open: func(_ context.Context, at Server) (Locks, error) {
			store, closeStore, err := open(at)
			return &storeLocks{store, closeStore}, err
		},
	}
}

type storeLocks struct {
	store pathlock.Store
	close func() error
}

func (l *storeLocks) Close() error { return l.close() }

func (l *storeLocks) Lock(tree string, leaf pathlock.Path) (Lock, error) {
	t, err := pathlock.NewTree("bench", tree)
	if err != nil {
		return nil, err
	}
	return &storeLock{
		store: l.store, id: rand.Text()[:10],
		request: pathlock.Acquisition{Tree: t, Claims: pathlock.Normalize(pathlock.X(leaf)), Lease: lease},
	}, nil
}

type storeLock struct {
	store   pathlock.Store
	request pathlock.Acquisition
	// id and count form a name that no other acquisition has.
	id    string
	count uint64
}

func (l *storeLock) Acquire(ctx context.Context) error { return l.acquire(ctx, 0) }

func (l *storeLock) Wait(ctx context.Context) error { return l.acquire(ctx, waitLimit) }

func (l *storeLock) acquire(ctx context.Context, wait time.Duration) error {
	l.count++
	var digits [16]byte
	for i, n := len(digits)-1, l.count; i >= 0; i, n = i-1, n/10 {
		digits[i] = '0' + byte(n%10)
	}
	l.request.Owner, l.request.Grant = pathlock.Owner(l.id+string(digits[:])), pathlock.GrantID(digits[:])
	l.request.Wait = wait
	_, err := l.store.Acquire(ctx, l.request)
	return pathlockError(err)
}

func (l *storeLock) Release(ctx context.Context) error {
	return l.store.Release(ctx, l.request.Tree, l.request.Owner, l.request.Grant)
}

// locked is a store behind a locker, as programs use it: with scopes, folded names and renewal.
func locked(name string, open storeOpener) Contender {
	return Contender{
		Name: name, Module: pathlockModule, Excludes: true, Shares: true,
		What: "pathlock.Locker: X on the leaf, under a new scope each time",
		Open: func(_ context.Context, at Server) (Locks, error) {
			store, closeStore, err := open(at)
			if err != nil {
				return nil, err
			}
			locker := pathlock.New(store, pathlock.WithLease(lease), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
			return &lockerLocks{locker, closeStore}, nil
		},
	}
}

type lockerLocks struct {
	locker *pathlock.Locker
	close  func() error
}

func (l *lockerLocks) Close() error { return l.close() }

func (l *lockerLocks) Lock(tree string, leaf pathlock.Path) (Lock, error) {
	t, err := pathlock.NewTree("bench", tree)
	if err != nil {
		return nil, err
	}
	return &lockerLock{locker: l.locker, request: pathlock.Request{Tree: t, Claims: []pathlock.Claim{pathlock.X(leaf)}}}, nil
}

type lockerLock struct {
	locker  *pathlock.Locker
	request pathlock.Request
	held    *pathlock.Lock
}

func (l *lockerLock) Acquire(ctx context.Context) error { return l.acquire(ctx, pathlock.NoWait) }

func (l *lockerLock) Wait(ctx context.Context) error { return l.acquire(ctx, waitLimit) }

func (l *lockerLock) acquire(ctx context.Context, wait time.Duration) error {
	l.request.Wait = wait
	held, err := l.locker.Acquire(ctx, l.request)
	l.held = held
	return pathlockError(err)
}

func (l *lockerLock) Release(ctx context.Context) error { return l.held.Release(ctx) }

func pathlockError(err error) error {
	if errors.Is(err, pathlock.ErrConflict) {
		return errors.Join(ErrHeld, err)
	}
	return err
}
