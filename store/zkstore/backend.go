package zkstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// backend keeps tickets in ZooKeeper.
type backend struct {
	client *client
	names  names
	acl    []zk.ACL
	limits limits
	packet int // the servers' jute.maxbuffer
	log    *slog.Logger
	clock  *clock
	memory

	sweep   time.Duration
	sweeper sync.Once
	closing context.Context
	close   context.CancelFunc
	running sync.WaitGroup
}

var _ ticketstore.Backend = (*backend)(nil)

// Update implements [ticketstore.Backend].
func (b *backend) Update(ctx context.Context, tree pathlock.Tree, change func(ticketstore.State) ticketstore.Changes) error {
	b.startSweeper()
	if err := b.update(ctx, tree, change); err != nil {
		return b.failed(ctx, "updating the tree "+tree.String(), err)
	}
	return nil
}

func (b *backend) update(ctx context.Context, tree pathlock.Tree, change func(ticketstore.State) ticketstore.Changes) error {
	current := false
	for try := 0; ; {
		r, err := b.read(ctx, tree, current)
		if err != nil {
			return err
		}
		state, err := b.state(ctx, r)
		if err != nil {
			return err
		}
		changes := change(state)
		switch {
		case changes.Empty() && current:
			return nil
		case changes.Empty():
			// The server may be behind. What is refused is refused by what is so.
			current = true
			continue
		case r.absent:
			// Fences of the tree's next life are above those of the last, if they are counted from
			// the transaction that creates it.
			if err := b.create(ctx, b.names.tree(tree)); err != nil {
				return err
			}
			continue
		}
		done, err := b.commit(ctx, tree, r, changes)
		if done || err != nil {
			return err
		}
		try++
		if err := b.pause(ctx, try); err != nil {
			return err
		}
	}
}

// pause waits before a further try, for longer each time, with jitter.
func (b *backend) pause(ctx context.Context, try int) error {
	if try == 0 {
		return ctx.Err()
	}
	const first, longest = time.Millisecond, 50 * time.Millisecond
	timer := time.NewTimer(rand.N(min(first<<min(try, 10), longest)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// create creates a container, and those above it that are missing.
func (b *backend) create(ctx context.Context, path string) error {
	_, err := once(ctx, b.client, func(conn *zk.Conn) (string, error) {
		return conn.CreateContainer(path, nil, zk.FlagContainer, b.acl)
	})
	switch {
	case err == nil, errors.Is(err, zk.ErrNodeExists):
		return nil
	case isLost(err) && ctx.Err() == nil:
		return nil // the caller looks again
	case errors.Is(err, zk.ErrNoNode) && parentOf(path) != "":
		if err := b.create(ctx, parentOf(path)); err != nil {
			return err
		}
		return b.create(ctx, path)
	default:
		return fmt.Errorf("creating the znode %s: %w", path, err)
	}
}

// View implements [ticketstore.Backend].
func (b *backend) View(ctx context.Context, tree pathlock.Tree) (ticketstore.State, error) {
	r, err := b.read(ctx, tree, true)
	if err == nil {
		var state ticketstore.State
		if state, err = b.state(ctx, r); err == nil {
			return state, nil
		}
	}
	return ticketstore.State{}, b.failed(ctx, "reading the tree "+tree.String(), err)
}

// Trees implements [ticketstore.Backend].
func (b *backend) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	trees, _, err := b.list(ctx)
	if err != nil {
		return nil, b.failed(ctx, "listing the trees", err)
	}
	return slices.DeleteFunc(trees, func(tree pathlock.Tree) bool {
		if err != nil {
			return true
		}
		var state ticketstore.State
		state, err = b.View(ctx, tree)
		return !slices.ContainsFunc(state.Tickets, func(t ticketstore.Ticket) bool { return t.Live(state.Now) })
	}), err
}

// list returns the trees that have tickets, live or not, and those that never had any.
func (b *backend) list(ctx context.Context) (used, unused []pathlock.Tree, err error) {
	if err := b.sync(ctx, b.names.root); err != nil {
		return nil, nil, err
	}
	root, err := b.children(ctx, b.names.root)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	return used, unused, b.together(ctx, root.names, func(ctx context.Context, name string) error {
		tree, ok := treeOf(name)
		if !ok {
			return nil
		}
		children, err := b.children(ctx, b.names.root+"/"+name)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return nil
		case err != nil:
			return err
		case len(children.names) > 0:
			used = append(used, tree)
		case children.stat.Version == 0:
			unused = append(unused, tree)
		}
		return nil
	})
}

// Limit implements [ticketstore.Backend].
func (b *backend) Limit() int { return b.limits.tickets }

// Ping implements [ticketstore.Backend]. It writes, so it fails without a majority of the servers,
// and where the root is another user's.
func (b *backend) Ping(ctx context.Context) error {
	if err := b.sample(ctx); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return b.failed(ctx, "ping", err)
	}
	return nil
}

// sample asks for the time by the leader's clock, which stamps what is written. It creates a znode,
// writes it and removes it, in one step. The error matches [zk.ErrNoNode] if there is no root yet.
func (b *backend) sample(ctx context.Context) error {
	path := b.names.root + "/" + stampPrefix + newID()
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

// now returns the time by the leader's clock, and when that was by this process's. The first time,
// it writes something to learn it.
func (b *backend) now(ctx context.Context) (now time.Time, uncertain time.Duration, at time.Time, err error) {
	// A sample is as good as its request is fast, so a first slow one is followed by others. Later
	// on, updates give samples.
	const tries, goodEnough, stale = 4, 3 * time.Millisecond, 50 * time.Millisecond
	_, _, _, known := b.clock.now()
	for try := 0; ; try++ {
		now, uncertain, at, ok := b.clock.now()
		if ok && (known && uncertain <= stale || uncertain <= goodEnough || try >= tries) {
			return now, uncertain, at, nil
		}
		switch err := b.sample(ctx); {
		case err == nil:
		case isLost(err) && ctx.Err() == nil && try < tries:
			// The next try does as well.
		case errors.Is(err, zk.ErrNoNode) && try < tries:
			if err := b.create(ctx, b.names.root); err != nil {
				return now, 0, at, err
			}
		default:
			return now, 0, at, err
		}
	}
}

// failed returns the error of an operation: ctx's, or one that says that the store is unavailable.
func (b *backend) failed(ctx context.Context, what string, err error) error {
	switch {
	case ctx.Err() != nil:
		cause := ctx.Err()
		if c := context.Cause(ctx); !errors.Is(c, cause) {
			cause = fmt.Errorf("%w: %w", cause, c)
		}
		return fmt.Errorf("%s: %w", what, cause)
	case errors.Is(err, pathlock.ErrInvalidRequest), errors.Is(err, pathlock.ErrUnavailable):
		return fmt.Errorf("%s: %w", what, err)
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("%w: %s: %w", pathlock.ErrInvalidRequest, what, err)
	default:
		return fmt.Errorf("%w: %s: %w", pathlock.ErrUnavailable, what, err)
	}
}
