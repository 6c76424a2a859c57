package etcdstore

import (
	"context"
	"crypto/rand"
	"strconv"
	"sync"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// backend is the [ticketstore.Backend] in etcd.
type backend struct {
	client *clientv3.Client
	config config
	keys   keys
	clock  clock
	// home is this process's name in its tickets.
	home      string
	leases    *leases
	sweeper   *sweeper
	sightings *sightings
	memory    *memory
	updates   atomic.Uint64
	// expire updates a tree if a lease has ended in it.
	expire func(context.Context, pathlock.Tree) error

	// ctx ends when the store is closed. running are the goroutines that it ends.
	ctx     context.Context
	cancel  context.CancelFunc
	mu      sync.Mutex // guards running against a start while close waits
	running sync.WaitGroup
}

var _ ticketstore.Backend = (*backend)(nil)

func newBackend(client *clientv3.Client, c config) *backend {
	const unique = 10 // characters of 5 bits: no two processes on one etcd have the same
	b := &backend{client: client, config: c, keys: newKeys(c.prefix), clock: newClock(), home: rand.Text()[:unique], sightings: newSightings(), memory: newMemory()}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.leases = newLeases(b)
	b.sweeper = newSweeper(b.clock)
	return b
}

// start runs f on a goroutine that close waits for, unless the backend has been closed.
func (b *backend) start(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return false
	}
	b.running.Go(f)
	return true
}

// close ends all goroutines of the backend, and returns when they have ended.
func (b *backend) close() {
	b.mu.Lock()
	b.cancel()
	b.mu.Unlock()
	b.running.Wait()
}

// tidyUp removes what nobody needs after the last update of this process: guards of empty trees,
// and leases without tickets. What remains, because etcd does not answer at once, costs next to
// nothing.
func (b *backend) tidyUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, b.config.longest())
	defer cancel()
	for _, tree := range b.sweeper.unsettled() {
		_ = b.settleTree(ctx, tree)
	}
	for _, id := range b.leases.unused(ctx) {
		_, _ = b.client.Revoke(ctx, id)
	}
}

// nextUpdate returns a name for an update that no other has.
func (b *backend) nextUpdate() string { return b.home + strconv.FormatUint(b.updates.Add(1), 36) }

// Limit implements [ticketstore.Backend]: two operations are for the guard and the floor.
func (b *backend) Limit() int { return b.config.maxOps - 2 }

// View implements [ticketstore.Backend].
func (b *backend) View(ctx context.Context, tree pathlock.Tree) (ticketstore.State, error) {
	r, err := b.read(ctx, tree, nil)
	if err != nil {
		return ticketstore.State{}, err
	}
	return b.state(ctx, r)
}

// Ping implements [ticketstore.Backend]. It asks for a write under a condition that never holds, so
// that it fails where a write would: without a majority, in a full database, without permission.
func (b *backend) Ping(ctx context.Context) error {
	key := b.keys.ping()
	err := b.ask(ctx, "ping", func(ctx context.Context) error {
		_, err := b.client.Txn(ctx).If(clientv3.Compare(clientv3.Version(key), "<", 0)).Then(clientv3.OpPut(key, "")).Commit()
		return err
	})
	return unavailable(err)
}
