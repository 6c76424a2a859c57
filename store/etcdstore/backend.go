package etcdstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// backend is the [ticketstore.Backend] in etcd.
type backend struct {
	client  *clientv3.Client
	config  config
	keys    keys
	decoder ticketstore.Decoder
	clock   clock
	// name is this process's in the names of its updates.
	name     string
	updates  atomic.Uint64
	leases   leases
	observed observations

	// own is the client that Close closes; nil if the caller does.
	own io.Closer
}

var _ ticketstore.Backend = (*backend)(nil)

func newBackend(client *clientv3.Client, c config) *backend {
	const unique = 10 // characters of 5 bits: no two processes on one etcd have the same
	return &backend{
		client: client, config: c, keys: keys{strings.TrimSuffix(c.prefix, "/") + "/"}, clock: newClock(), name: rand.Text()[:unique],
		leases: leases{latest: map[time.Duration]lease{}}, observed: observations{latest: map[renewal]time.Time{}},
	}
}

// nextUpdate returns a name for an update that no other has.
func (b *backend) nextUpdate() string { return b.name + strconv.FormatUint(b.updates.Add(1), 36) }

// Limit implements [ticketstore.Backend]: one operation is for the guard, one for a
// reservation.
func (b *backend) Limit() int { return b.config.maxOps - 2 }

// mostOfOwner is how many requests an owner may have in a tree: an update that writes all of them
// may also have to write some others, such as the one whose release lets the owner in.
func (b *backend) mostOfOwner() int { return max(1, b.Limit()-6) }

// Close closes the client if it is the store's own.
func (b *backend) Close() error {
	if b.own == nil {
		return nil
	}
	if err := b.own.Close(); err != nil && !errors.Is(err, context.Canceled) { // it has been closed
		return fmt.Errorf("etcdstore: closing the client: %w", err)
	}
	return nil
}

// Ping implements [ticketstore.Backend]. It asks for a write under a condition that never holds, so
// that it fails where a write would: without a majority, in a full database, without permission.
func (b *backend) Ping(ctx context.Context) error {
	key := b.keys.ping()
	return b.ask(ctx, "ping", func(ctx context.Context) error {
		_, err := b.client.Txn(ctx).If(clientv3.Compare(clientv3.Version(key), "<", 0)).Then(clientv3.OpPut(key, "")).Commit()
		return err
	})
}

// Trees implements [ticketstore.Backend]. It reads all tickets of the store.
func (b *backend) Trees(ctx context.Context) (trees []pathlock.Tree, err error) {
	var response *clientv3.GetResponse
	err = b.ask(ctx, "listing the trees", func(ctx context.Context) (err error) {
		response, err = b.client.Get(ctx, b.keys.prefix, clientv3.WithPrefix())
		return err
	})
	if err != nil {
		return nil, err
	}
	r := &reading{revision: response.Header.Revision, ends: map[shownEnd]end{}}
	err = r.add(b, slices.DeleteFunc(response.Kvs, func(kv *mvccpb.KeyValue) bool {
		_, ok := b.keys.treeOf(string(kv.Key))
		return !ok // a guard, or a key of somebody else's
	}))
	if err != nil {
		return nil, err
	}
	state, err := b.state(ctx, r)
	if err != nil {
		return nil, err
	}
	live := make(map[pathlock.Tree]bool)
	for i, t := range state.Tickets {
		if tree, _ := b.keys.treeOf(r.records[i].key); t.Live(state.Now) {
			live[tree] = true
		}
	}
	return slices.Collect(maps.Keys(live)), nil
}

// watchAgain is how long waiters whose watch has failed wait before they look again.
const watchAgain = 100 * time.Millisecond

// ticketKey names a ticket outside of this package: its place, and a revision at which it existed.
func ticketKey(place uint64, revision int64) string {
	return fmt.Sprintf("%016x@%d", place, revision)
}

// readAt returns the revision in a ticket's name.
func readAt(t ticketstore.Ticket) int64 {
	_, text, _ := strings.Cut(t.Key, "@")
	revision, _ := strconv.ParseInt(text, 10, 64) // as ticketKey has written it
	return revision
}

// Watch implements [ticketstore.Backend]. It reports all that has happened to the two keys since
// they were read, however late the watch begins.
//
// A process watches all keys on one stream. etcd reports each change of a waiter's own key, and the
// end of the one key before it, and nothing else.
func (b *backend) Watch(ctx context.Context, tree pathlock.Tree, ticket, before ticketstore.Ticket) {
	// Without a leader, a member would go on in silence.
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	own := b.client.Watch(ctx, b.keys.ticket(tree, ticket.Place), clientv3.WithRev(readAt(ticket)+1))
	other := b.client.Watch(ctx, b.keys.ticket(tree, before.Place), clientv3.WithRev(readAt(before)+1), clientv3.WithFilterPut())
	for {
		var response clientv3.WatchResponse
		select {
		case response = <-own:
		case response = <-other:
		}
		switch {
		case len(response.Events) > 0:
			return
		case response.Err() != nil || !response.Created && !response.IsProgressNotify():
			select { // it cannot tell any more
			case <-time.After(watchAgain):
			case <-ctx.Done():
			}
			return
		}
	}
}
