package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"

	"github.com/pathlock-go/pathlock"
)

// conflict returns the error for a request that was not granted because of its claim number i, and
// for another reason, if that is not nil.
func (s *store) conflict(ctx context.Context, r *request, i int, reason error) error {
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
func (s *store) deadlock(ctx context.Context, r *request, i int, other pathlock.Owner) error {
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

// target returns the node and the mode of claim number i. The gate has no path: a request that
// somebody else's gate keeps out fails at its topmost claim.
func (r *request) target(i int) (pathlock.Path, pathlock.Mode) {
	switch {
	case i > 1 && i-2 < len(r.Claims):
		return r.Claims[i-2].Path, r.Claims[i-2].Mode
	case r.Gate:
		return pathlock.Root(), pathlock.ModeX
	default:
		return r.Claims[0].Path, r.Claims[0].Mode
	}
}

// blocker finds out in a snapshot who keeps r from its claim number i; only may name the owner to
// describe. It returns the zero Blocker if that cannot be found out, since the request has been
// refused all the same.
func (s *store) blocker(ctx context.Context, r *request, i int, only pathlock.Owner) pathlock.Blocker {
	snapshot, err := s.Snapshot(r.grace(ctx), r.Tree)
	if err != nil {
		return pathlock.Blocker{}
	}
	path, _ := r.target(i)
	var found *pathlock.Blocking
	for _, b := range snapshot.InTheWay(r.Owner, r.Gate, r.Claims) {
		if (only == "" || only == b.Entry.Owner) && (found == nil || b.Path == path && found.Path != path) {
			found = &b
		}
	}
	if found == nil {
		return pathlock.Blocker{}
	}
	e := found.Entry
	return pathlock.Blocker{
		Owner: e.Owner, Note: e.Note, Origin: e.Origin, Gate: e.Gate, Mode: found.Mode, Waiting: found.Waiting,
		Since: e.Since, Until: e.Until,
	}
}
