package zkstore

import (
	"context"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
	"github.com/pathlock-go/pathlock/store/zkstore/internal/zk"
)

// Watch implements [ticketstore.Backend] with two watches: the data of the ticket's own znode, and
// the children of the znode before it. No ticket has children, so that one fires when the znode is
// removed, and not at its signs of life. Nobody else watches either: an event wakes one waiter.
func (b *backend) Watch(ctx context.Context, tree pathlock.Tree, ticket, before ticketstore.Ticket, wake func()) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, b.failed(ctx, "watching the tree "+tree.String(), err)
	}
	stopOwn := b.client.Watch(b.names.ticket(tree, ticket.Key), zk.WatchData, func(op zk.Op) bool {
		if waits(op.(*zk.Get), ticket) {
			return true
		}
		wake()
		return false
	})
	if before.Key == "" {
		return stopOwn, nil
	}
	stopBefore := b.client.Watch(b.names.ticket(tree, before.Key), zk.WatchChildren, func(op zk.Op) bool {
		if op.(*zk.Children).Err == nil {
			return true
		}
		wake()
		return false
	})
	return func() { stopOwn(); stopBefore() }, nil
}

// waits reports whether a ticket waits as it did.
func waits(got *zk.Get, ticket ticketstore.Ticket) bool {
	if got.Err != nil {
		return false
	}
	now, err := decodeTicket(got.Data)
	return err == nil && now.State == ticketstore.Waiting && now.Looks == ticket.Looks
}
