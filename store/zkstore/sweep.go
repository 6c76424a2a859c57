package zkstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
	"github.com/pathlock-go/pathlock/store/zkstore/internal/zk"
)

// startSweeper has this process clear away, in turn with the others, what nobody else would: the
// persistent tickets in trees that nobody visits after their leases have ended. Updates remove the
// others, and ephemeral ones go with their sessions.
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
	turn, whose := &zk.Create{Path: b.names.sweeper(), ACL: b.acl, Mode: zk.Ephemeral}, &zk.Get{Path: b.names.sweeper()}
	if err := b.client.Do(ctx, turn); err != nil {
		return err
	}
	if err := b.client.Do(ctx, whose); err != nil {
		return err
	}
	if errors.Is(whose.Err, zk.ErrNoNode) {
		return nil // there is no root, so there is nothing at all
	}
	if whose.Err != nil {
		return whose.Err
	}
	if whose.Stat.EphemeralOwner != b.client.Session().ID {
		return nil // it is another process's turn
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
		if err := b.client.Do(ctx, &zk.Delete{Path: b.names.tree(tree), Version: 0}); err != nil {
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
