package zkstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// startSweeper has this process clear away, in turn with the others, what nobody else would: the
// tickets in trees that nobody visits after their leases have ended. Updates remove the others.
func (b *backend) startSweeper() {
	if b.sweep <= 0 || b.closing.Err() != nil {
		return
	}
	b.sweeper.Do(func() { b.running.Go(b.sweepOften) })
}

func (b *backend) sweepOften() {
	for {
		timer := time.NewTimer(b.sweep/2 + rand.N(b.sweep))
		select {
		case <-timer.C:
		case <-b.closing.Done():
			timer.Stop()
			return
		}
		if err := b.sweepOnce(b.closing); err != nil && b.closing.Err() == nil {
			b.log.Warn("zkstore: clearing away ended tickets", "error", err)
		}
	}
}

// sweepOnce looks at all trees, if it is this process's turn: it has the turn until its session
// ends.
func (b *backend) sweepOnce(ctx context.Context) error {
	_, err := once(ctx, b.client, func(conn *zk.Conn) (string, error) {
		return conn.Create(b.names.sweeper(), nil, zk.FlagEphemeral, b.acl)
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil // there is no root, so there is nothing at all
	}
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	mine, err := untilAnswered(ctx, b.client, func(conn *zk.Conn) (bool, error) {
		_, stat, err := conn.Get(b.names.sweeper())
		return err == nil && stat.EphemeralOwner == conn.SessionID(), err
	})
	if err != nil || !mine {
		return err
	}
	used, unused, err := b.list(ctx)
	if err != nil {
		return err
	}
	for _, tree := range used {
		if err := b.clear(ctx, tree); err != nil {
			return err
		}
	}
	for _, tree := range unused {
		// ZooKeeper keeps containers that were never used. A process that is about to use this one
		// creates it again.
		if _, err := once(ctx, b.client, func(conn *zk.Conn) (any, error) {
			return nil, conn.Delete(b.names.tree(tree), 0)
		}); err != nil && !errors.Is(err, zk.ErrNoNode) && !errors.Is(err, zk.ErrBadVersion) && !errors.Is(err, zk.ErrNotEmpty) {
			return err
		}
	}
	return nil
}

// clear removes the tickets of a tree in which all have ended. Where one is live, its process
// visits the tree.
func (b *backend) clear(ctx context.Context, tree pathlock.Tree) error {
	return b.update(ctx, tree, func(state ticketstore.State) (c ticketstore.Changes) {
		c.Fence = state.Fence
		if slices.ContainsFunc(state.Tickets, func(t ticketstore.Ticket) bool { return state.Now.Before(t.Until) }) {
			return c
		}
		c.Delete = state.Tickets[:min(len(state.Tickets), b.limits.tickets)]
		return c
	})
}
