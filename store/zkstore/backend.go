package zkstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/go-zookeeper/zk"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// backend keeps tickets in ZooKeeper.
type backend struct {
	client  *client
	names   names
	acl     []zk.ACL
	clock   *clock
	decoder ticketstore.Decoder
	// keep is how long the znode of an empty tree stays.
	keep time.Duration
}

var _ ticketstore.Backend = (*backend)(nil)

// Limit implements [ticketstore.Backend].
func (b *backend) Limit() int { return maxTickets }

// maxTickets is how many tickets one update writes: no more than it has fences.
const maxTickets = 1 << (fenceBits - 1)

// Close ends the session.
func (b *backend) Close() error {
	b.client.end()
	return nil
}

// Ping implements [ticketstore.Backend]. It writes, so it fails without a majority of the servers,
// and where the root is another user's.
func (b *backend) Ping(ctx context.Context) error {
	if err := b.sample(ctx); !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	return nil
}

// sample asks for the time by the leader's clock, which stamps what is written. It creates a znode,
// writes it and removes it, in one step. The error matches [zk.ErrNoNode] if there is no root yet.
func (b *backend) sample(ctx context.Context) error {
	path := b.names.stamp()
	sent := time.Now()
	results, err := once(ctx, b.client, func(conn *zk.Conn) ([]zk.MultiResponse, error) {
		return conn.Multi(&zk.CreateRequest{Path: path, Acl: b.acl, Flags: zk.FlagEphemeral},
			&zk.SetDataRequest{Path: path, Version: -1}, &zk.DeleteRequest{Path: path, Version: -1})
	})
	if err != nil {
		return fmt.Errorf("writing below %s: %w", b.names.root, err)
	}
	b.clock.sample(results[1].Stat.Mtime, sent, time.Now())
	return nil
}

// now returns the time by the leader's clock. The first time, and after a while without updates, it
// writes something to learn it.
func (b *backend) now(ctx context.Context) (now time.Time, uncertain time.Duration, err error) {
	// A sample is as good as its request is fast, so a slow one is followed by others. Updates give
	// samples, too.
	const tries, goodEnough = 4, 50 * time.Millisecond
	for try := 0; ; try++ {
		now, uncertain, known := b.clock.now()
		if known && (uncertain <= goodEnough || try >= tries || try == 0 && b.clock.isFresh()) {
			return now, uncertain, nil
		}
		switch err := b.sample(ctx); {
		case err == nil, isLost(err) && ctx.Err() == nil && try < tries:
		case errors.Is(err, zk.ErrNoNode) && try < tries:
			if err := b.createRoot(ctx, b.names.root); err != nil {
				return now, 0, err
			}
		default:
			return now, 0, err
		}
	}
}

// Watch implements [ticketstore.Backend]. A ticket that waits has a znode, which goes in the step
// that ends its wait, and changes in the step that asks its process to look. Nobody else watches
// it: an event wakes one waiter. Every deletion comes from an update, so the ticket before does not
// matter.
func (b *backend) Watch(ctx context.Context, tree pathlock.Tree, ticket, _ ticketstore.Ticket) {
	pauses := backoff.ExponentialBackOff{InitialInterval: time.Millisecond, MaxInterval: 25 * time.Millisecond, Multiplier: 2, RandomizationFactor: 1}
	for {
		events, err := do(ctx, b.client, true, func(s *session) (<-chan zk.Event, error) {
			if err := s.settle(ctx); err != nil {
				return nil, err
			}
			now, _, events, err := s.conn.GetW(b.names.waiter(tree, ticket))
			if err == nil && !bytes.Equal(now, looks(ticket)) {
				err = zk.ErrNoNode
			}
			return events, err
		})
		var again <-chan time.Time
		switch {
		case ctx.Err() != nil, errors.Is(err, zk.ErrNoNode):
			return
		case err != nil:
			events, again = nil, time.After(pauses.NextBackOff())
		default:
			pauses.Reset()
		}
		select {
		case <-events: // a connection that is lost is one, too
		case <-again:
		case <-ctx.Done():
			return
		}
	}
}
