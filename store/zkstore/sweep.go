package zkstore

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Sweep removes the znodes of trees that nobody uses any more: see [ticketstore.New].
func (b *backend) Sweep(ctx context.Context) error {
	return b.each(ctx, func(ctx context.Context, tree pathlock.Tree, r *reading, now time.Time) error {
		if slices.ContainsFunc(r.record.tickets.Tickets, func(t ticketstore.Ticket) bool { return now.Before(t.Until) }) ||
			now.Sub(time.UnixMilli(r.mtime)) < b.keep {
			return nil
		}
		return b.remove(ctx, tree, r)
	})
}

// remove removes the znodes of a tree, unless somebody has updated it since it was read.
func (b *backend) remove(ctx context.Context, tree pathlock.Tree, r *reading) error {
	requests := []any{&zk.DeleteRequest{Path: b.names.life(tree, r.record.Life), Version: -1}}
	for _, t := range r.record.tickets.Tickets {
		if t.State == ticketstore.Waiting {
			requests = append(requests, &zk.DeleteRequest{Path: b.names.waiter(tree, t), Version: -1})
		}
	}
	if r.reserved {
		requests = append(requests, &zk.DeleteRequest{Path: b.names.reservation(tree), Version: -1})
	}
	requests = append(requests, &zk.DeleteRequest{Path: b.names.tree(tree), Version: r.version})
	_, err := once(ctx, b.client, func(conn *zk.Conn) (any, error) { return conn.Multi(requests...) })
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNotEmpty) {
		return nil
	}
	return err
}

// atOnce is how many trees are read at once.
const atOnce = 32

// each calls a function with all trees that have a znode, for several at once, until one fails.
func (b *backend) each(ctx context.Context, do func(context.Context, pathlock.Tree, *reading, time.Time) error) error {
	if err := b.sync(ctx, b.names.root); err != nil {
		return err
	}
	names, err := untilAnswered(ctx, b.client, func(conn *zk.Conn) ([]string, error) {
		names, _, err := conn.Children(b.names.root)
		return names, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	now, _, err := b.now(ctx)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, name := range names {
		tree, ok := treeOf(name)
		if !ok {
			continue
		}
		group.Go(func() error {
			r, err := b.read(ctx, tree, false)
			if err != nil || r.absent {
				return err
			}
			return do(ctx, tree, r, now)
		})
	}
	return group.Wait()
}

// Trees implements [ticketstore.Backend].
func (b *backend) Trees(ctx context.Context) (trees []pathlock.Tree, err error) {
	var mu sync.Mutex
	err = b.each(ctx, func(_ context.Context, tree pathlock.Tree, r *reading, now time.Time) error {
		if slices.ContainsFunc(r.record.tickets.Tickets, func(t ticketstore.Ticket) bool { return t.Live(now) }) {
			mu.Lock()
			defer mu.Unlock()
			trees = append(trees, tree)
		}
		return nil
	})
	return trees, err
}
