package middleware

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// The misuses of [Locks.Detach].
var (
	errUnderLocks   = errors.New("middleware: Detach was called under the request's locks, which end with the request: use lockspec.None as the route's spec")
	errSeveralTrees = errors.New("middleware: a detached hold covers one tree, but the spec does not lock in exactly one")
)

// Detach takes the locks that the spec states for the request, as [Locks.Lock] does around a
// handler, and leaves them in the lock store as a hold that outlives the request. The hold ends
// after lasting, unless somebody refreshes or releases it with the token. Detach returns the token,
// and the end of the hold.
//
// Use it in handlers that lock something for their client, on a route with the spec
// [lockspec.None]. The note tells those who wait for the hold who has it, and what for. It defaults
// to the spec's note. A token that the request carries is checked but not used, so the request
// collides with the token's hold.
//
// The spec has to lock in exactly one tree; ids of a [lockspec.Source.Each] that are in several are
// a [*lockspec.InvalidError]. [Locks.Fail] answers the errors. Nothing stays held if
// the client has gone away meanwhile, or if lasting is shorter than [pathlock.MinLease].
func (m *Locks) Detach(c *gin.Context, spec lockspec.Spec, lasting time.Duration, note string) (pathlock.Token, time.Time, error) {
	if m.isUnderLocks(c.Request.Context()) {
		return "", time.Time{}, errUnderLocks
	}
	if err := m.check(spec); err != nil {
		return "", time.Time{}, err
	}
	v, err := m.visit(c, spec)
	if err != nil {
		return "", time.Time{}, err
	}
	v.carried, v.note, v.asserted = carried{}, note, false
	ctx := m.withOrigin(c, spec)
	locks, err := v.acquire(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	defer locks.release(ctx)
	switch {
	case c.IsAborted():
		return "", time.Time{}, errAnswered
	case len(locks.taken) != 1:
		for _, source := range spec.Sources() {
			if source.IsEach() { // the client has chosen the trees
				return "", time.Time{}, &lockspec.InvalidError{Field: source.Name(), Reason: fmt.Sprintf("a hold covers one tree, but these are in %d trees", len(locks.taken))}
			}
		}
		return "", time.Time{}, errSeveralTrees
	}
	token, err := locks.taken[0].Detach(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	until, err := m.locker.Refresh(ctx, token, lasting)
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("middleware: the request ended before it got its token: %w", context.Cause(ctx))
	}
	if err != nil {
		// Nobody will ever have the token.
		_ = m.locker.ReleaseToken(context.WithoutCancel(ctx), token)
		return "", time.Time{}, err
	}
	return token, until, nil
}
