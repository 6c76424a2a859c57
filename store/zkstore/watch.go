package zkstore

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Watch implements [ticketstore.Backend]. A ticket that waits has a znode, which goes in the step
// that ends its wait, and changes in the step that asks its process to look. Nobody else watches
// it: an event wakes one waiter. Every deletion comes from an update, so the ticket before does not
// matter.
func (b *backend) Watch(ctx context.Context, tree pathlock.Tree, ticket, _ ticketstore.Ticket) {
	for pauses := newPauses(); ; {
		events, err := watching(ctx, b.client, func(conn *zk.Conn) (<-chan zk.Event, error) {
			now, _, events, err := conn.GetW(b.names.waiter(tree, ticket))
			if err == nil && !bytes.Equal(now, looks(ticket)) {
				err = zk.ErrNoNode
			}
			return events, err
		})
		switch {
		case ctx.Err() != nil, errors.Is(err, zk.ErrNoNode):
			return
		case err != nil:
			if pause(ctx, pauses.NextBackOff()) != nil {
				return
			}
			continue
		}
		pauses.Reset()
		select {
		case <-events: // a connection that is lost is one, too
		case <-ctx.Done():
			return
		}
	}
}
