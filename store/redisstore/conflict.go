package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bsm/redislock"

	"github.com/pathlock-go/pathlock"
)

// ErrQueueFull says, in a conflict, that the request could not wait: as many as may wait in the
// tree wait already (see [WithMaxWaiters]).
var ErrQueueFull = errors.New("redisstore: too many wait in the tree")

// conflict returns the error for a request that was not granted because of its claim number i, and
// for another reason, if that is not nil.
func (s *Store) conflict(ctx context.Context, r *request, i int, reason error) error {
	path, mode := r.target(i)
	e := &pathlock.ConflictError{
		Tree: r.Tree, Path: path, Mode: mode, Gate: r.Gate,
		Blocker: s.blocker(ctx, r, i, ""),
		Waited:  time.Since(r.began),
		Err:     redislock.ErrNotObtained,
	}
	if err := errors.Join(reason, ctx.Err()); err != nil {
		e.Err = errors.Join(redislock.ErrNotObtained, err)
	}
	return e
}

// deadlock returns the error for a request that waits, because of its claim number i, for an
// owner who waits for the one that asks.
func (s *Store) deadlock(ctx context.Context, r *request, i int, other pathlock.Owner) error {
	path, mode := r.target(i)
	e := &pathlock.DeadlockError{
		Tree: r.Tree, Path: path, Mode: mode, Gate: r.Gate,
		Blocker: s.blocker(ctx, r, i, other),
	}
	if e.Blocker.IsZero() {
		e.Blocker.Owner = other
	}
	return e
}

// target returns the node that claim number i is on. The gate has no path of its own: a request
// that somebody else's gate keeps out fails at its topmost claim.
func (r *request) target(i int) (pathlock.Path, pathlock.Mode) {
	switch {
	case i > 1 && i-2 < len(r.set.origin):
		c := r.set.origin[i-2]
		return c.Path, c.Mode
	case r.Gate:
		return pathlock.Root(), pathlock.ModeX
	default:
		return r.Claims[0].Path, r.Claims[0].Mode
	}
}

// blocker finds out who keeps r from its claim number i; only may name the one to describe. It is
// the zero Blocker if that is not to be learned (any more): the request has been refused, and that
// stands.
func (s *Store) blocker(ctx context.Context, r *request, i int, only pathlock.Owner) pathlock.Blocker {
	if i < 1 || i > 1+len(r.set.origin) {
		return pathlock.Blocker{}
	}
	name, mode := r.set.claim(i)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	found, err := call(ctx, s, operation{verb: "look for a blocker", tree: r.Tree}, func(ctx context.Context) (reply, error) {
		for rank := "0"; ; {
			got, err := s.scripts.blocker.ask(ctx, s.runner, r.keys, string(r.Owner), name, mode, rank, string(only))
			if err != nil || got.status != "more" {
				return got, err
			}
			rank = got.text(0)
		}
	}, nil)
	if err != nil || found.status != "found" {
		return pathlock.Blocker{}
	}
	b := pathlock.Blocker{
		Owner:   pathlock.Owner(found.text(0)),
		Mode:    pathlock.Mode(found.number(1)),
		Since:   instant(found.text(2)),
		Until:   instant(found.text(3)),
		Note:    found.text(4),
		Waiting: found.text(5) == "1",
		Gate:    found.text(6) == "1",
	}
	return b
}

// notHeld returns the error for something that is not on record.
func notHeld(what operation) error { return fmt.Errorf("%w: redis: %s", pathlock.ErrNotHeld, what) }
