package etcdstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// watchAgain is how long to wait before a watch is begun again that has failed.
const watchAgain = 100 * time.Millisecond

// ticketKey is the name that a ticket has outside of this package: its place, and a revision at
// which it was there.
func ticketKey(place uint64, revision int64) string {
	return fmt.Sprintf("%016x@%d", place, revision)
}

// readAt returns the revision in a ticket's name, 0 if it has none.
func readAt(t ticketstore.Ticket) int64 {
	_, text, _ := strings.Cut(t.Key, "@")
	revision, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return revision
}

// Watch implements [ticketstore.Backend]. It returns at once: all that has happened to the two keys
// since they were read is reported, whenever the watch stands.
//
// A process watches all keys on one stream. etcd tells it of each change of a waiter's own key, and
// of the end of the one key before it: nobody hears of anything else.
func (b *backend) Watch(ctx context.Context, tree pathlock.Tree, ticket, before ticketstore.Ticket, wake func()) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("etcdstore: watching %s: %w", tree, err)
	}
	if b.ctx.Err() != nil {
		return nil, closed(fmt.Sprintf("watching %s", tree))
	}
	// Without a leader, a member would go on in silence.
	watching, cancel := context.WithCancel(clientv3.WithRequireLeader(b.ctx))
	w := &watch{b: b, looks: ticket.Looks, wake: wake}
	w.follow(watching, watched{key: b.keys.ticket(tree, ticket.Place), revision: readAt(ticket), own: true})
	w.follow(watching, watched{key: b.keys.ticket(tree, before.Place), revision: readAt(before)})
	return func() {
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.stopped = true
	}, nil
}

// watch is a wait that is watched.
type watch struct {
	b *backend

	mu      sync.Mutex
	stopped bool
	looks   uint64 // of the waiter's ticket
	wake    func()
}

// watched is a key that a watch follows.
type watched struct {
	key string
	// revision is one at which the key was there, 0 if none is known.
	revision int64
	// forgotten says that etcd cannot tell any more what has happened since: see the key itself.
	forgotten bool
	// own says that the key is the waiter's own. Otherwise only its end matters.
	own bool
}

// notify calls wake, unless the watch has been stopped.
func (w *watch) notify() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.wake()
	}
}

// follow follows a key until ctx ends.
func (w *watch) follow(ctx context.Context, k watched) {
	w.b.start(func() {
		for ctx.Err() == nil {
			if (k.revision == 0 || k.forgotten) && !w.look(ctx, &k) {
				continue
			}
			w.listen(ctx, &k)
		}
	})
}

// look reads a key and finds out from when on it is to be followed.
func (w *watch) look(ctx context.Context, k *watched) bool {
	var response *clientv3.GetResponse
	err := w.b.ask(ctx, "looking at a watched key", func(ctx context.Context) error {
		var err error
		response, err = w.b.client.Get(ctx, k.key)
		return err
	})
	if err != nil {
		_ = w.b.sleep(ctx, watchAgain)
		return false
	}
	// A key may be another ticket's by now.
	if len(response.Kvs) == 0 || k.revision != 0 && response.Kvs[0].CreateRevision > k.revision || k.own && !w.waits(response.Kvs[0].Value) {
		w.notify()
	}
	k.revision, k.forgotten = response.Header.Revision, false
	return true
}

// listen follows a key until the watch ends, and sets from when on to follow it again.
func (w *watch) listen(ctx context.Context, k *watched) {
	options := []clientv3.OpOption{clientv3.WithRev(k.revision + 1)}
	if !k.own {
		options = append(options, clientv3.WithFilterPut())
	}
	for response := range w.b.client.Watch(ctx, k.key, options...) {
		for _, event := range response.Events {
			k.revision = max(k.revision, event.Kv.ModRevision)
			if event.Type == clientv3.EventTypeDelete || k.own && !w.waits(event.Kv.Value) {
				w.notify()
			}
		}
		switch {
		case response.CompactRevision != 0:
			k.forgotten = true
			return
		case response.Err() != nil:
			_ = w.b.sleep(ctx, watchAgain)
			return
		}
	}
}

// waits reports whether a value is that of the waiter's ticket as it was.
func (w *watch) waits(value []byte) bool {
	t, err := ticketstore.Decode(value)
	return err == nil && t.State == ticketstore.Waiting && t.Looks == w.looks
}
