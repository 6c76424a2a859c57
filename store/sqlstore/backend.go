package sqlstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/ended"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// backend is the [ticketstore.Backend] in two tables.
type backend struct {
	config
	engine engine
	// home names this process, in tickets and as a channel of PostgreSQL.
	home    string
	cache   cache
	lookout *lookout
	sweeper *sweeper
	// seen says that the tables have been there, and checked that they have been checked: one
	// operation at a time does that, which has the turn.
	seen, checked atomic.Bool
	turn          chan struct{}
}

var _ ticketstore.Backend = (*backend)(nil)

// newHome returns a random name of a process.
func newHome() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "pathlock_" + hex.EncodeToString(b[:])
}

// hopeful is how many times an update reads and writes in the hope that no other process writes in
// between. After that it locks the tree, so that a process far from the server gets its turn beside
// those that are near.
const hopeful = 3

// Update implements [ticketstore.Backend].
func (b *backend) Update(ctx context.Context, tree pathlock.Tree, change func(ticketstore.State) ticketstore.Changes) error {
	u := &update{backend: b, tree: tree, key: keyOf(tree), decide: change}
	if err := b.again(ctx, "updating "+tree.String(), u.key, u.try); err != nil {
		return err
	}
	u.tell()
	b.sweeper.due()
	return nil
}

// again does something until nobody is in its way. Tables that were there and are gone, as after a
// failover to an empty server, it makes again: nobody holds anything then.
func (b *backend) again(ctx context.Context, doing string, key treeKey, do func(ctx context.Context, try int) error) error {
	if err := b.prepare(ctx); err != nil {
		return err
	}
	remade := false
	for try := 0; ; try++ {
		err := do(ctx, try)
		switch {
		case err == nil:
			b.seen.Store(true)
			return nil
		case errors.Is(err, errStale):
			b.cache.forget(key)
		case errors.Is(err, errFaster), b.engine.again(err):
		case !remade && b.seen.Load() && b.engine.missing(err):
			if failed := b.engine.create(ctx); failed != nil {
				return b.failed(ctx, doing, fmt.Errorf("%w: making the tables again, which are gone: %w", err, failed))
			}
			remade = true
			continue
		default:
			return b.failed(ctx, doing, err)
		}
		if err := rest(ctx, try); err != nil {
			return b.failed(ctx, doing, err)
		}
	}
}

// rest waits a moment before the next try, a longer one after more tries.
func rest(ctx context.Context, try int) error {
	timer := time.NewTimer(mathrand.N(time.Duration(min(try+1, 10)) * 500 * time.Microsecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("others kept writing: %w", ctx.Err())
	}
}

// View implements [ticketstore.Backend].
func (b *backend) View(ctx context.Context, tree pathlock.Tree) (state ticketstore.State, err error) {
	key := keyOf(tree)
	err = b.again(ctx, "reading "+tree.String(), key, func(ctx context.Context, _ int) (err error) {
		state, err = b.view(ctx, key)
		return err
	})
	return state, err
}

func (b *backend) view(ctx context.Context, key treeKey) (ticketstore.State, error) {
	img, err := b.engine.read(ctx, key, b.cache.get(key))
	if err != nil {
		return ticketstore.State{}, err
	}
	b.cache.put(key, &known{img.version, img.tickets})
	return img.state()
}

// Trees implements [ticketstore.Backend].
func (b *backend) Trees(ctx context.Context) (trees []pathlock.Tree, err error) {
	within, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	err = b.again(within, "listing the trees", treeKey{}, func(ctx context.Context, _ int) error {
		now, err := b.engine.clock(ctx)
		if err == nil {
			trees, err = b.treesOf(ctx, "trees", refused, now)
		}
		return err
	})
	return trees, err
}

// treesOf returns the trees that a statement names.
func (b *backend) treesOf(ctx context.Context, name string, args ...any) (trees []pathlock.Tree, err error) {
	r, err := b.engine.query(ctx, name, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var namespace, id []byte
		if err := r.Scan(&namespace, &id); err != nil {
			return nil, err
		}
		tree, err := pathlock.NewTree(string(namespace), string(id))
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	return trees, r.Err()
}

// Watch implements [ticketstore.Backend]. Every deletion comes from an update, so the ticket before
// does not matter.
func (b *backend) Watch(ctx context.Context, tree pathlock.Tree, ticket, _ ticketstore.Ticket, wake func()) (stop func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	place, err := placeOf(ticket)
	if err != nil {
		return nil, err
	}
	stop, err = b.lookout.watch(ticketID{keyOf(tree), place}, int64(ticket.Looks), wake)
	if err != nil {
		return nil, err
	}
	return stop, nil
}

// Limit implements [ticketstore.Backend].
func (b *backend) Limit() int { return 0 }

// Ping implements [ticketstore.Backend]: it reads the tables.
func (b *backend) Ping(ctx context.Context) error {
	return b.again(ctx, "reading the tables", treeKey{}, func(ctx context.Context, _ int) error {
		_, err := b.engine.read(ctx, treeKey{}, &known{})
		return err
	})
}

// failed returns the error of a method: the context's if that has ended, or else one that says that
// the store is unavailable.
func (b *backend) failed(ctx context.Context, doing string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", doing, ended.By(ctx))
	case errors.Is(err, pathlock.ErrInvalidRequest), errors.Is(err, pathlock.ErrUnavailable):
		return fmt.Errorf("%s: %w", doing, err)
	}
	if advice := b.engine.advice(err); advice != "" {
		return fmt.Errorf("%w: %s: %w: %s", pathlock.ErrUnavailable, doing, err, advice)
	}
	return fmt.Errorf("%w: %s: %w", pathlock.ErrUnavailable, doing, err)
}
