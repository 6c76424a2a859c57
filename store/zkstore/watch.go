package zkstore

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Watch implements [ticketstore.Backend]. A ticket that waits has a znode, which goes in the step
// that ends its wait, and changes in the step that asks its process to look. Nobody else watches
// it: an event wakes one waiter. Every deletion comes from an update, so the ticket before does not
// matter.
func (b *backend) Watch(ctx context.Context, tree pathlock.Tree, ticket, _ ticketstore.Ticket, wake func()) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(b.closing)
	var mu sync.Mutex
	b.running.Go(func() {
		b.follow(ctx, b.names.waiter(tree, ticket), looks(ticket))
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() == nil {
			wake()
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		cancel()
	}, nil
}

// follow returns when a znode is gone or has other data, or ctx ends.
func (b *backend) follow(ctx context.Context, path string, data []byte) {
	for try := 0; ; {
		events, err := watching(ctx, b.client, func(conn *zk.Conn) (<-chan zk.Event, error) {
			now, _, events, err := conn.GetW(path)
			if err == nil && !bytes.Equal(now, data) {
				err = zk.ErrNoNode
			}
			return events, err
		})
		switch {
		case ctx.Err() != nil, errors.Is(err, zk.ErrNoNode):
			return
		case err != nil:
			try++
			if pause(ctx, try) != nil {
				return
			}
			continue
		}
		try = 0
		select {
		case <-events: // a connection that is lost is one, too
		case <-ctx.Done():
			return
		}
	}
}
