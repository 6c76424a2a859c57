package election

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/pathlock-go/pathlock"
)

// The first and the longest pause between two looks at a store that wakes nobody. Each pause varies
// by a quarter, so that observers that began together soon look at different times.
const (
	firstPause   = 40 * time.Millisecond
	longestPause = 800 * time.Millisecond
)

// Leader says who leads an election, as others see it. The zero Leader means that nobody does.
type Leader struct {
	// Value is what the leader campaigned with, or has proclaimed since.
	Value string
	// Term is [Leadership.Term].
	Term uint64
	// Since is when the leader got the value, by the clock of the lock store: when the term began,
	// or at the latest [Leadership.Proclaim].
	Since time.Time
}

// IsZero reports whether nobody leads.
func (l Leader) IsZero() bool { return l.Term == 0 }

// Leader returns who leads at this moment, and the zero Leader if nobody does. The error matches
// [pathlock.ErrUnavailable] if the store did not answer, and [pathlock.ErrInvalidTree] if no
// election can have the name.
func (e *Election) Leader(ctx context.Context) (Leader, error) {
	_, leader, _, err := e.look(ctx)
	return leader, err
}

// Observe yields the current leader, and then every later leader and every value that is
// proclaimed, until ctx ends. It yields the zero Leader while nobody leads. A leader whose term has
// ended before the observer looks may be left out, and so may a value, but never the latest.
//
// A yielded leader may already be out of date. A leader knows by its own context whether it leads,
// and nobody may conclude it from here.
//
// Between two leaders it waits for the store to wake it, as one waiter in the election's tree. It
// asks the store three times for each leader. While nobody leads, it looks again after 50 ms, and
// then less and less often, down to once a second. It does the same if the store accepts no more
// waiters.
//
// If the store does not answer, it yields an error that matches [pathlock.ErrUnavailable], and goes
// on at the same pace. It yields the first answer after that even if nothing has changed. Any other
// error, such as [pathlock.ErrInvalidTree] or [pathlock.ErrClosed], ends it.
func (e *Election) Observe(ctx context.Context) iter.Seq2[Leader, error] {
	return func(yield func(Leader, error) bool) {
		var known pathlock.Path // the own node of the leader that was yielded last, "/" for none
		pauses := backoff.ExponentialBackOff{InitialInterval: firstPause, MaxInterval: longestPause, Multiplier: 2, RandomizationFactor: 0.25}
		for first := true; ctx.Err() == nil; {
			tree, leader, node, err := e.look(ctx)
			isNews := first || node != known
			if err == nil && isNews {
				if !yield(leader, nil) {
					return
				}
				known, first = node, false
			}
			if err == nil && !leader.IsZero() {
				if err = e.awaitEnd(ctx, tree, node); err == nil && isNews {
					pauses.Reset()
					continue
				}
			}
			switch {
			case ctx.Err() != nil:
				return
			case err == nil, errors.Is(err, pathlock.ErrConflict), errors.Is(err, pathlock.ErrLost):
			default:
				first = true
				passing := errors.Is(err, pathlock.ErrUnavailable) && !errors.Is(err, pathlock.ErrClosed)
				if !yield(Leader{}, err) || !passing {
					return
				}
			}
			select {
			case <-time.After(pauses.NextBackOff()):
			case <-ctx.Done():
			}
		}
	}
}

// look returns the leader, and the leader's own node.
func (e *Election) look(ctx context.Context) (tree pathlock.Tree, leader Leader, node pathlock.Path, err error) {
	if tree, err = e.tree(); err != nil {
		return tree, leader, node, err
	}
	folded, err := e.locker.Folded(seat)
	if err != nil {
		return tree, leader, node, err
	}
	snapshot, err := e.locker.Snapshot(ctx, tree)
	if err != nil {
		return tree, leader, node, err
	}
	for _, hold := range snapshot.Holders { // what a leader has proclaimed last comes last
		if !slices.Contains(hold.Claims, pathlock.X(folded)) {
			continue // an observer, on its way
		}
		for _, c := range hold.Claims {
			if c.Mode == pathlock.ModeX && c.Path != folded {
				leader, node = Leader{hold.Note, termOf(c.Path, hold.Fence), hold.Since}, c.Path
			}
		}
	}
	return tree, leader, node, nil
}

// termOf returns the term of a leader that has an own node by a grant with a fence. What it has
// proclaimed has another fence, so the name of the node begins with the term.
func termOf(node pathlock.Path, fence uint64) uint64 {
	term, _, proclaimed := strings.Cut(node.Base(), "-")
	if n, err := strconv.ParseUint(term, 10, 64); proclaimed && err == nil {
		return n
	}
	return fence
}

// awaitEnd waits until nobody has a leader's own node. It asks as an owner of its own: ctx may be
// the leader's.
func (e *Election) awaitEnd(ctx context.Context, tree pathlock.Tree, node pathlock.Path) error {
	stranger := e.locker.Scope(context.Background())
	lock, err := e.locker.Acquire(stranger.Context(ctx), pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.S(node)}, Wait: pathlock.Forever, Note: "observer", Operation: operationObserve,
	})
	if err != nil {
		return err
	}
	lock.ReleaseInBackground(ctx)
	return nil
}
