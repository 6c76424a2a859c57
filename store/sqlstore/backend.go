package sqlstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"strconv"
	"time"

	"github.com/pathlock-go/pathlock"
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
	within, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	u := &update{backend: b, tree: tree, key: keyOf(tree), decide: change}
	for try := 0; ; try++ {
		err := u.try(within, try)
		switch {
		case err == nil:
			u.tell()
			b.sweeper.due()
			return nil
		case errors.Is(err, errStale):
			b.cache.forget(u.key)
		case errors.Is(err, errFaster), b.engine.again(err):
		default:
			return b.failed(ctx, "updating "+tree.String(), err)
		}
		if err := rest(within, try); err != nil {
			return b.failed(ctx, "updating "+tree.String(), err)
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

// update is one call of Update.
type update struct {
	backend *backend
	tree    pathlock.Tree
	key     treeKey
	decide  func(ticketstore.State) ticketstore.Changes
	// ended are the tickets of this process whose waits the last try has ended, or that it is to
	// look at.
	ended []ticketID
}

// try reads, decides and writes once.
func (u *update) try(ctx context.Context, n int) error {
	b := u.backend
	k := b.cache.get(u.key)
	if swap := b.engine.swap(); swap != nil && n < hopeful {
		img, err := b.engine.read(ctx, u.key, k)
		if err != nil {
			return err
		}
		return u.write(img, func(c *change) error { return swap(ctx, c) })
	}
	l, err := b.engine.lock(ctx, identity{u.key, u.tree.Namespace(), u.tree.ID()})
	if err != nil {
		return err
	}
	defer l.close()
	img, err := l.read(ctx, k)
	if err != nil {
		return err
	}
	return u.write(img, func(c *change) error { return l.write(ctx, c) })
}

// write writes what there is to write to a tree that was read.
func (u *update) write(img image, write func(*change) error) error {
	state, err := img.state()
	if err != nil {
		return err
	}
	changes := u.decide(state)
	if u.ended = nil; changes.Empty() {
		u.backend.cache.put(u.key, &known{img.version, img.tickets})
		return nil
	}
	c, err := u.changeOf(img, changes)
	if err != nil {
		return err
	}
	if err := write(c); err != nil {
		return err
	}
	next := img.tickets
	for _, place := range c.gone {
		delete(next, place)
	}
	for _, t := range c.put {
		next[t.place] = &entry{version: c.version, state: t.state, text: t.text}
	}
	u.backend.cache.put(u.key, &known{c.version, next})
	return nil
}

// state is an image as the lock table wants it.
func (img *image) state() (ticketstore.State, error) {
	s := ticketstore.State{
		Tickets: make([]ticketstore.Ticket, 0, len(img.tickets)),
		Now:     time.UnixMicro(img.now),
		Began:   img.began,
		Fence:   uint64(max(0, img.fence)),
		Floor:   uint64(max(0, img.now)),
	}
	for place, e := range img.tickets {
		t, err := e.decode(place)
		if err != nil {
			return s, err
		}
		s.Tickets = append(s.Tickets, t)
	}
	return s, nil
}

// changeOf returns what is to be written. It sets the keys of new tickets.
func (u *update) changeOf(img image, changes ticketstore.Changes) (*change, error) {
	if changes.Fence > math.MaxInt64 {
		return nil, fmt.Errorf("sqlstore: the fence %d does not fit into a column", changes.Fence)
	}
	c := &change{
		tree: u.tree, key: u.key, exists: img.exists, from: img.version,
		// Versions grow with the clock where a tree's row was removed meanwhile.
		version: max(img.version+1, img.now),
		fence:   int64(changes.Fence), now: img.now,
	}
	woken := make(map[string]bool, len(changes.Woken))
	for _, t := range changes.Woken {
		woken[t.Key] = true
	}
	put := make(map[int64]bool, len(changes.Put))
	for i := range changes.Put {
		t := &changes.Put[i]
		place, err := placeOf(*t)
		if err != nil {
			return nil, err
		}
		if t.Key == "" {
			t.Key, t.Home = strconv.FormatInt(place, 10), u.backend.home
		}
		row := ticketRow{place: place, state: stateOf(*t), looks: int64(t.Looks), ends: micros(t.Ends()), text: ticketstore.Encode(*t)}
		// A process is named as long as it waits, and until it has seen why it need not.
		ended := woken[t.Key]
		if t.State == ticketstore.Waiting || ended {
			row.home = t.Home
		}
		if ended {
			u.end(c, t.Home, place)
		}
		put[place] = true
		c.put = append(c.put, row)
	}
	for i := range changes.Delete {
		t := &changes.Delete[i]
		place, err := placeOf(*t)
		if err != nil {
			return nil, err
		}
		if old := img.tickets[place]; old != nil {
			if was, err := old.decode(place); err == nil && was.State == ticketstore.Waiting {
				u.end(c, was.Home, place)
			}
		}
		// A new ticket in the place of a deleted one overwrites it.
		if !put[place] {
			c.gone = append(c.gone, place)
		}
	}
	return c, nil
}

// end notes that a process is to be told of a ticket.
func (u *update) end(c *change, home string, place int64) {
	id := ticketID{u.key, place}
	if home == u.backend.home {
		u.ended = append(u.ended, id)
	} else if home != "" {
		c.messages = append(c.messages, message{home, id})
	}
}

// tell wakes the waiters of this process whose waits the update has ended.
func (u *update) tell() { u.backend.lookout.wake(u.ended...) }

// View implements [ticketstore.Backend].
func (b *backend) View(ctx context.Context, tree pathlock.Tree) (ticketstore.State, error) {
	within, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	key := keyOf(tree)
	for try := 0; ; try++ {
		state, err := b.view(within, key)
		switch {
		case err == nil:
			return state, nil
		case errors.Is(err, errStale):
			b.cache.forget(key)
		case b.engine.again(err):
		default:
			return state, b.failed(ctx, "reading "+tree.String(), err)
		}
		if err := rest(within, try); err != nil {
			return ticketstore.State{}, b.failed(ctx, "reading "+tree.String(), err)
		}
	}
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
func (b *backend) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	within, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	now, err := b.engine.clock(within)
	if err != nil {
		return nil, b.failed(ctx, "listing the trees", err)
	}
	trees, err := b.treesOf(within, "trees", refused, now)
	if err != nil {
		return nil, b.failed(ctx, "listing the trees", err)
	}
	return trees, nil
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
	within, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	if _, err := b.engine.read(within, treeKey{}, &known{}); err != nil {
		return b.failed(ctx, "reading the tables", err)
	}
	return nil
}

// failed returns the error of a method: the context's if that has ended, or else one that says that
// the store is unavailable.
func (b *backend) failed(ctx context.Context, doing string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", doing, contextError(ctx))
	case errors.Is(err, pathlock.ErrInvalidRequest), errors.Is(err, pathlock.ErrUnavailable):
		return fmt.Errorf("%s: %w", doing, err)
	case errors.Is(err, context.DeadlineExceeded):
		// The time-out is the store's: no context of the caller has ended.
		return fmt.Errorf("%w: %s: not done within %v: %v", pathlock.ErrUnavailable, doing, b.timeout, err) //nolint:errorlint // see above
	}
	if advice := b.engine.advice(err); advice != "" {
		return fmt.Errorf("%w: %s: %w: %s", pathlock.ErrUnavailable, doing, err, advice)
	}
	return fmt.Errorf("%w: %s: %w", pathlock.ErrUnavailable, doing, err)
}

// contextError returns ctx's error with its cause.
func contextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
