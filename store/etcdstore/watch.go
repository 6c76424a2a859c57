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

// watchAgain is how long to wait before those look again whose watch has failed.
const watchAgain = 100 * time.Millisecond

// ticketKey is the name that a ticket has outside of this package: its place, and a revision at
// which it was there.
func ticketKey(place uint64, revision int64) string {
	return fmt.Sprintf("%016x@%d", place, revision)
}

// readAt returns the revision in a ticket's name.
func readAt(t ticketstore.Ticket) (int64, error) {
	_, text, _ := strings.Cut(t.Key, "@")
	revision, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: the ticket %q has no revision", pathlock.ErrInvalidRequest, t.Key)
	}
	return revision, nil
}

// Watch implements [ticketstore.Backend]. It returns at once: all that has happened to the two keys
// since they were read is reported, whenever the watch stands.
//
// A process watches all keys on one stream. etcd tells it of each change of a waiter's own key, and
// of the end of the one key before it: nobody hears of anything else.
func (b *backend) Watch(ctx context.Context, tree pathlock.Tree, ticket, before ticketstore.Ticket, wake func()) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	own, err := readAt(ticket)
	if err != nil {
		return nil, err
	}
	other, err := readAt(before)
	if err != nil {
		return nil, err
	}
	// Without a leader, a member would go on in silence.
	watching, cancel := context.WithCancel(clientv3.WithRequireLeader(b.ctx))
	var mu sync.Mutex
	listen := func(place uint64, options ...clientv3.OpOption) func() {
		return func() {
			b.listen(watching, b.keys.ticket(tree, place), options)
			mu.Lock()
			defer mu.Unlock()
			if watching.Err() == nil {
				wake()
			}
		}
	}
	if !b.start(listen(ticket.Place, clientv3.WithRev(own+1))) ||
		!b.start(listen(before.Place, clientv3.WithRev(other+1), clientv3.WithFilterPut())) {
		cancel()
		return nil, pathlock.ErrClosed
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		cancel()
	}, nil
}

// listen returns when something has happened to a key, or cannot be told any more.
func (b *backend) listen(ctx context.Context, key string, options []clientv3.OpOption) {
	for response := range b.client.Watch(ctx, key, options...) {
		if len(response.Events) > 0 {
			return
		}
		if response.Err() != nil {
			break
		}
	}
	_ = b.sleep(ctx, watchAgain)
}
