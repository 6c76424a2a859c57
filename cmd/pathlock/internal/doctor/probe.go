package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// The doctor takes locks in one of a few trees of its own: a store remembers each tree for days.
// They are several, since a cluster has each on one of its shards.
const (
	probeNamespace = "pathlock-doctor"
	probeTrees     = 16
)

// Bounds of the trial: how long its locks live if the program dies, and how long a wait may last.
const (
	probeLease = 10 * time.Second
	probeWait  = 3 * time.Second
)

// probe does what programs do with a lock store, in a tree of its own: it takes a lock, waits for
// it with another owner, hands it over, renews, looks and releases. So every right is really used.
// The other store is on the same servers, and stands for another process.
func (e *exam) probe(ctx context.Context, about string, store, other pathlock.Store) {
	took, err := trial(ctx, store, other)
	switch {
	case err == nil:
		e.fine(about, "trial", "a lock was taken, waited for, handed over in %v, and released", took.Round(10*time.Microsecond))
	case unreachable(err):
		e.found(Problem, about, "trial", err.Error(), "the lock store "+anystore.Trouble(err), remedy(about, err))
	default:
		e.found(Problem, about, "trial", err.Error(), "programs fail in the same way", "")
	}
}

// trial returns how long a hand-over took.
func trial(ctx context.Context, store, other pathlock.Store) (_ time.Duration, err error) {
	// Other doctors may use the same tree. The node is this one's.
	id := rand.Text()
	tree, err := pathlock.NewTree(probeNamespace, fmt.Sprintf("trial-%d", id[0]%probeTrees))
	if err != nil {
		return 0, err
	}
	node, err := pathlock.ParsePath("/" + id)
	if err != nil {
		return 0, err
	}
	locker := pathlock.New(store, pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	request := pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.X(node)},
		Lease: probeLease, Wait: probeWait, Note: "pathlock doctor",
	}
	first, err := locker.Acquire(ctx, request)
	if err != nil {
		return 0, fmt.Errorf("taking a lock: %w", err)
	}
	// A release that failed is tried again in the background, until the store is closed.
	defer func() {
		if ended := first.Release(context.WithoutCancel(ctx)); !errors.Is(ended, pathlock.ErrNotHeld) { // this may be the second release
			err = errors.Join(err, ended)
		}
	}()
	snapshot, err := locker.Snapshot(ctx, tree)
	if err != nil {
		return 0, fmt.Errorf("looking at a tree: %w", err)
	}
	mine := slices.DeleteFunc(snapshot.Holders, func(h pathlock.Entry) bool { return h.Fence != first.Fence() })
	if len(mine) != 1 {
		return 0, fmt.Errorf("looking at a tree: it shows %d holders of a lock that one holds", len(mine))
	}
	lease := pathlock.Lease{Owner: mine[0].Owner, For: probeLease}
	lost, err := store.Renew(ctx, tree, []pathlock.Lease{lease})
	if err == nil && len(lost) > 0 {
		err = pathlock.ErrLost
	}
	if err != nil {
		return 0, fmt.Errorf("renewing a lock: %w", err)
	}
	queued := make(chan struct{})
	granted := make(chan error, 1)
	var second *pathlock.Lock
	waiting := pathlock.New(other, pathlock.WithLogger(slog.New(slog.DiscardHandler)), pathlock.WithObserver(&queue{queued: queued}))
	go func() {
		var err error
		second, err = waiting.Acquire(ctx, request)
		granted <- err
	}()
	select {
	case <-queued:
	case err := <-granted:
		if err == nil {
			err = errors.New("it was granted while another owner held it")
		}
		return 0, fmt.Errorf("waiting for a lock: %w", err)
	}
	begin := time.Now()
	if err := first.Release(ctx); err != nil {
		return 0, errors.Join(fmt.Errorf("releasing a lock: %w", err), <-granted) // it waits for what was not released
	}
	if err := <-granted; err != nil {
		return 0, fmt.Errorf("waiting for a lock that was released: %w", err)
	}
	took := time.Since(begin)
	if err := second.Release(ctx); err != nil {
		return 0, fmt.Errorf("releasing a lock: %w", err)
	}
	return took, nil
}

// queue tells when a request waits.
type queue struct {
	pathlock.NopObserver
	queued chan struct{}
}

// Waiting implements [pathlock.Observer].
func (q *queue) Waiting(context.Context, pathlock.Event) { close(q.queued) }
