package etcdstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
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
func readAt(t ticketstore.Ticket) int64 {
	_, text, _ := strings.Cut(t.Key, "@")
	revision, _ := strconv.ParseInt(text, 10, 64) // as ticketKey has written it
	return revision
}

// Watch implements [ticketstore.Backend]. All that has happened to the two keys since they were
// read is reported, whenever the watch stands.
//
// A process watches all keys on one stream. etcd tells it of each change of a waiter's own key, and
// of the end of the one key before it: nobody hears of anything else.
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
			_ = sleep(ctx, watchAgain) // it cannot tell any more
			return
		}
	}
}
