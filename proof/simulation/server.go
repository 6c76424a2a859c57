package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/proof/simredis"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// server is what the instances of a world share.
type server interface {
	// open returns a store that reaches the server over a network, and what ends its client.
	open(n *network) (store pathlock.Store, end func())
	// forget has the server forget everything, and remember returns what makes it what it is now.
	forget()
	remember() (again func())
	// left returns what there is besides fences.
	left() []string
	// granted returns when a fence was given out, by the server's clock.
	granted(tree pathlock.Tree, fence uint64) time.Time
}

// redisServer is a Redis with the scripts of package redisstore.
type redisServer struct{ *simredis.Server }

func (s redisServer) open(n *network) (pathlock.Store, func()) {
	n.serve = s.Serve
	client := redis.NewClient(&redis.Options{
		Dialer: func(context.Context, string, string) (net.Conn, error) { return n.dial() },
		Addr:   address.String(), DialTimeout: time.Second, DialerRetries: 1, ContextTimeoutEnabled: true, PoolSize: 100,
	})
	return redisstore.New(client), func() { _ = client.Close() }
}

func (s redisServer) forget() {
	s.ForgetScripts()
	s.Restore(nil)
}

func (s redisServer) remember() func() {
	image := s.Image()
	return func() { s.Restore(image) }
}

func (s redisServer) left() []string { return s.Keys() }

// granted: a fence is a time in microseconds.
func (s redisServer) granted(_ pathlock.Tree, fence uint64) time.Time {
	return time.UnixMicro(int64(fence) + 1)
}

// nearby is a network without faults, over which the oracle asks.
func nearby() *network { return &network{random: rand.New(rand.NewPCG(0, 0)), delay: 10} }

// memoryServer is package memstore behind a network. It costs a hundredth of the others.
type memoryServer struct {
	local bool // the instances share it without a network
	mu    sync.Mutex
	now   pathlock.Store
}

func (s *memoryServer) store() pathlock.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *memoryServer) open(n *network) (pathlock.Store, func()) {
	if s.local {
		return unclosed{s.now}, func() {}
	}
	return &memory{s.now, s, n, rand.New(rand.NewPCG(n.random.Uint64(), 6))}, func() {}
}

func (s *memoryServer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.now.Close(context.Background()) // those that wait learn of it
	s.now = memstore.New()
}

func (s *memoryServer) remember() func() { return s.forget } // it has no copy

func (s *memoryServer) left() (all []string) {
	for _, tree := range trees {
		snapshot, _ := s.store().Snapshot(context.Background(), tree)
		for _, e := range append(snapshot.Holders, snapshot.Waiters...) {
			all = append(all, nameOf(e))
		}
	}
	return all
}

func (s *memoryServer) granted(_ pathlock.Tree, fence uint64) time.Time {
	return time.UnixMicro(int64(fence) + 1)
}

// unclosed is a store that others go on to use.
type unclosed struct{ pathlock.Store }

func (unclosed) Close(context.Context) error { return nil }

// Transfer says a little less than is true: what ends at one moment here and there ends in any
// order.
func (s unclosed) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	got, err := s.Store.Transfer(ctx, t)
	got.Left -= time.Microsecond
	return got, err
}

// memory is the client of one instance. Of the rest of a store, only Trees and Ping pass it by.
type memory struct {
	pathlock.Store
	*memoryServer
	network *network
	random  *rand.Rand
}

var errNoAnswer = fmt.Errorf("%w: no answer", pathlock.ErrUnavailable)

// ask has the server do something, and awaits the answer for so long.
func ask[T any](ctx context.Context, m *memory, within time.Duration, do func(pathlock.Store) (T, error)) (T, error) {
	type answer struct {
		got T
		err error
	}
	answers, none := make(chan answer, 1), answer{}
	breaks := m.network.breaksNow(m.random, 100)
	time.AfterFunc(m.network.takes(m.random), func() {
		if m.network.isGone() {
			return // with what was on its way
		}
		got, err := do(m.store())
		if errors.Is(err, pathlock.ErrClosed) {
			err = fmt.Errorf("%w: the server starts", pathlock.ErrUnavailable)
		}
		time.AfterFunc(m.network.takes(m.random), func() { answers <- answer{got, err} })
	})
	if breaks {
		return none.got, errNoAnswer
	}
	if deadline, ok := ctx.Deadline(); ok { // a renewal is sent again at that very moment
		within = min(within, time.Until(deadline)-time.Microsecond)
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case a := <-answers:
		return a.got, a.err
	case <-ctx.Done():
		return none.got, fmt.Errorf("%w: %w", errNoAnswer, ctx.Err())
	case <-timer.C:
		return none.got, errNoAnswer
	}
}

// Acquire withdraws what is not answered. Now and then the withdrawal is lost, and the server only
// learns that nobody waits any more.
func (m *memory) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	waits, stop := m.network.wait()
	got, err := ask(ctx, m, max(0, a.Wait+timeout-a.Spent), func(s pathlock.Store) (pathlock.Grant, error) { return s.Acquire(waits, a) })
	if !errors.Is(err, errNoAnswer) {
		stop()
		if !got.Asked.IsZero() { // see unclosed.Transfer
			got.Asked = got.Asked.Add(-time.Microsecond)
		}
		return got, err
	}
	lost := m.network.breaksNow(m.random, 3)
	time.AfterFunc(m.network.takes(m.random), func() {
		stop()
		if !lost && !m.network.isGone() {
			_ = m.store().Release(context.Background(), a.Tree, a.Owner, a.Grant)
		}
	})
	return got, err
}

func (m *memory) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	_, err := ask(ctx, m, timeout, func(s pathlock.Store) (any, error) { return nil, s.Release(context.Background(), tree, owner, id) })
	return err
}

func (m *memory) ForceRelease(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner) error {
	_, err := ask(ctx, m, timeout, func(s pathlock.Store) (any, error) { return nil, s.ForceRelease(context.Background(), tree, owner) })
	return err
}

func (m *memory) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	return ask(ctx, m, timeout, func(s pathlock.Store) ([]pathlock.Owner, error) { return s.Renew(context.Background(), tree, leases) })
}

func (m *memory) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	return ask(ctx, m, timeout, func(s pathlock.Store) (pathlock.Transferred, error) { return s.Transfer(context.Background(), t) })
}

func (m *memory) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	return ask(ctx, m, timeout, func(s pathlock.Store) (pathlock.Snapshot, error) { return s.Snapshot(context.Background(), tree) })
}

func (m *memory) Close(context.Context) error { return nil }

func (m *memory) Local() bool { return false }
