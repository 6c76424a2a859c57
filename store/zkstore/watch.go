package zkstore

import (
	"context"
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Watch implements [ticketstore.Backend] with two watches: the data of the ticket's own znode, and
// the children of the znode before it. No ticket has children, so that one fires when the znode is
// removed, and not at its signs of life. Nobody else watches either: an event wakes one waiter.
func (b *backend) Watch(ctx context.Context, tree pathlock.Tree, ticket, before ticketstore.Ticket, wake func()) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, b.failed(ctx, "watching the tree "+tree.String(), err)
	}
	ctx, cancel := context.WithCancel(b.closing)
	w := &watch{wake: wake}
	b.running.Go(func() {
		path := b.names.ticket(tree, ticket.Key)
		b.follow(ctx, w, func(conn *zk.Conn) (seen, error) {
			data, _, events, err := conn.GetW(path)
			return seen{err == nil && waits(data, ticket), events}, err
		})
	})
	if before.Key != "" {
		b.running.Go(func() {
			path := b.names.ticket(tree, before.Key)
			b.follow(ctx, w, func(conn *zk.Conn) (seen, error) {
				_, _, events, err := conn.ChildrenW(path)
				return seen{err == nil, events}, err
			})
		})
	}
	return func() { cancel(); w.stop() }, nil
}

// waits reports whether a ticket waits as it did.
func waits(data []byte, ticket ticketstore.Ticket) bool {
	now, err := decodeTicket(data)
	return err == nil && now.State == ticketstore.Waiting && now.Looks == ticket.Looks
}

// seen is what a look at a znode brings.
type seen struct {
	// waits says that there is nothing to tell.
	waits bool
	// events has something when the znode is worth another look.
	events <-chan zk.Event
}

// watch is one caller's.
type watch struct {
	mu      sync.Mutex
	wake    func()
	stopped bool
}

func (w *watch) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.wake()
	}
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
}

// follow looks at a znode again and again, until there is something to tell.
func (b *backend) follow(ctx context.Context, w *watch, look func(*zk.Conn) (seen, error)) {
	for try := 0; ; {
		got, err := watching(ctx, b.client, look)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && !got.waits, errors.Is(err, zk.ErrNoNode):
			w.fire()
			return
		case err != nil:
			try++
			if b.pause(ctx, try) != nil {
				return
			}
			continue
		}
		try = 0
		select {
		case <-got.events:
		case <-ctx.Done():
			return
		}
	}
}
