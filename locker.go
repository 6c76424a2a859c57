package pathlock

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock/internal/lease"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// Defaults of a [Locker].
const (
	// DefaultLease is the lease of requests that state none, unless [WithLease] says otherwise.
	DefaultLease = 30 * time.Second
	// DefaultWait is the wait of requests that state none, unless [WithWait] says otherwise.
	DefaultWait = 2 * time.Second
)

// Locker takes locks in a [Store] and looks after them. It adds re-entry through the context,
// renews leases in the background, and reports lost locks. Make one per process and store with
// [New], and share it.
//
// A Locker has no goroutine and no connection of its own while nothing is held or being released.
type Locker struct {
	store Store
	local bool // see [Store.Local]
	// lease and wait are those of requests that state none. fold is nil for Fold.
	lease, wait time.Duration
	fold        func(string) string
	observers   []Observer
	log         *slog.Logger
	// instance names this process in the origin of its requests.
	instance string
	renewer  *lease.Renewer[Tree, *holding]
	releases lease.Releases[Tree]
	serving  serving
}

// Option changes a default of [New].
type Option func(*Locker)

// WithLease sets the lease of requests that state none. See [Request.Lease].
func WithLease(d time.Duration) Option { return func(l *Locker) { l.lease = d } }

// WithWait sets the wait of requests that state none. [NoWait] means no wait. See [Request.Wait].
func WithWait(d time.Duration) Option { return func(l *Locker) { l.wait = d } }

// WithFold sets how names are folded into lock keys. The default is [Fold]. All processes that work
// on a tree must use the same fold.
func WithFold(fold func(name string) string) Option { return func(l *Locker) { l.fold = fold } }

// WithObserver adds an observer, unless it is nil. It may be given several times.
func WithObserver(o Observer) Option {
	return func(l *Locker) { l.observers = append(l.observers, cmp.Or(o, Observer(NopObserver{}))) }
}

// WithLogger sets the log. It gets warnings of losses, failed renewals, releases that fail in the
// background, and releases by force. The default is [slog.Default] at the time of [New]. A nil log
// changes nothing.
func WithLogger(log *slog.Logger) Option { return func(l *Locker) { l.log = cmp.Or(log, l.log) } }

// New returns a locker on store. [Locker.Check] says whether the options make sense. A request that
// relies on an invalid option is refused. The middleware and the plugin of a program must share one
// locker: only the locker that made a scope recognises it.
func New(store Store, opts ...Option) *Locker {
	l := &Locker{store: store, local: store.Local(), lease: DefaultLease, wait: DefaultWait, log: slog.Default(), instance: defaultInstance()}
	for _, opt := range opts {
		opt(l)
	}
	l.renewer = lease.NewRenewer(func(h *holding) Tree { return h.tree }, l.renew, endAllByClock)
	return l
}

// Check reports whether the options given to [New] make sense: no lease below [MinLease], and no
// negative wait but [NoWait]. So a program can refuse to start with settings under which its first
// request would fail. The error names every wrong option, and matches [ErrInvalidRequest].
func (l *Locker) Check() error {
	return errors.Join(checkWait(l.wait), checkLease(l.lease))
}

// Wait returns the wait of requests that state none: see [WithWait].
func (l *Locker) Wait() time.Duration { return l.wait }

// Snapshot returns who holds and who waits in a tree at one instant.
func (l *Locker) Snapshot(ctx context.Context, tree Tree) (Snapshot, error) {
	return l.store.Snapshot(ctx, tree)
}

// Trees returns the trees in which somebody holds or waits, in no particular order. It leaves out
// the tree of [Locker.StoreID].
func (l *Locker) Trees(ctx context.Context) ([]Tree, error) {
	trees, err := l.store.Trees(ctx)
	return slices.DeleteFunc(trees, func(t Tree) bool { return t == identity }), err
}

// idWait is how long a process waits while another gives the store its id.
const idWait = 100 * time.Millisecond

// identity is the tree in which a store keeps its id: the note of a hold that nobody releases.
var identity = Tree{namespace: "pathlock-store", id: "id"}

// StoreID returns the id of the lock store. Every process that takes its locks there gets the same
// id, and every other store has another, whatever the URLs are. The first call gives the store its
// id, which contains the date. A store that loses its locks loses its id, too. A store inside one
// process has no id: "".
func (l *Locker) StoreID(ctx context.Context) (string, error) {
	if l.local {
		return "", nil
	}
	var err error
	for try := range 10 {
		var snapshot Snapshot
		if snapshot, err = l.store.Snapshot(ctx, identity); err == nil && len(snapshot.Holders) > 0 {
			return snapshot.Holders[0].Note, nil
		}
		if err == nil {
			_, err = l.store.Acquire(ctx, Acquisition{
				Tree: identity, Owner: newOwner(), Grant: "id", Claims: Normalize(X(Root())), Lease: Forever, Wait: idWait,
				Note: rand.Text()[:8] + " of " + time.Now().UTC().Format(time.DateOnly),
			})
		}
		conflict, ok := errors.AsType[*ConflictError](err) // with another process, which is first
		if err != nil && !ok {
			break
		}
		if ok && try >= 5 && !conflict.Blocker.Waiting {
			// A member of a quorum may have an id that no majority has: it was once used alone, or
			// the others lost their data.
			_ = l.store.ForceRelease(ctx, identity, conflict.Blocker.Owner)
		}
	}
	return "", fmt.Errorf("pathlock: the id of the lock store: %w", err)
}

// ForceRelease takes away everything that an owner of a [Locker.Snapshot] holds in the tree, and
// its places in the queue. The owner learns of the loss at its next renewal, which follows at once
// if its locks are this locker's. The error matches [ErrNotHeld] if there is nothing.
func (l *Locker) ForceRelease(ctx context.Context, tree Tree, owner Owner) error {
	if err := l.store.ForceRelease(ctx, tree, owner); err != nil {
		return err
	}
	l.renewNow(tree, owner)
	l.log.WarnContext(ctx, "pathlock: released by force", "tree", tree, "owner", owner)
	return nil
}

// Ping reports whether the store can serve; the error matches [ErrUnavailable].
func (l *Locker) Ping(ctx context.Context) error { return l.store.Ping(ctx) }

// Shutdown waits for the releases under way in the background, retries included, so that a program
// leaves no locks behind when it ends. Call it after the last request and before you close the
// store.
//
// The error matches the context's if ctx ends first, and [ErrClosed] if the store has been closed
// before, so that retries are pointless. Then the remaining locks end with their leases.
//
// After Shutdown, [Lock.ReleaseInBackground] does its work before it returns. Everything else works
// as before.
func (l *Locker) Shutdown(ctx context.Context) error {
	left, failed, why := l.releases.Close(ctx)
	switch {
	case left > 0:
		return fmt.Errorf("pathlock: %s still under way: %w", shown.Count(left, "release is", "releases are"), context.Cause(ctx))
	case failed > 0:
		return fmt.Errorf("pathlock: %s, and what they hold ends with its lease: %w", shown.Count(failed, "release failed", "releases failed"), why)
	}
	return nil
}
