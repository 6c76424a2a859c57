package gormplugin

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/carry"
)

// acquireOne takes one request for scope.
//
// A statement in the handler of a request that holds locks, but without the request's context,
// would wait for the locks of its own request, which are let go when the handler is done. carried
// says that a context came with the statement; where none did, and the handler that it is made in
// is the one in the way, that is said at once.
func (p *keeper) acquireOne(ctx context.Context, scope *pathlock.Scope, req pathlock.Request, carried bool) (*pathlock.Lock, error) {
	if carried || !carry.InsideAny() {
		return p.Locker.Acquire(scope.Context(ctx), req)
	}
	atOnce := req
	atOnce.Wait = pathlock.NoWait
	lock, err := p.Locker.Acquire(scope.Context(ctx), atOnce)
	conflict, ok := errors.AsType[*pathlock.ConflictError](err)
	switch {
	case !ok:
		return lock, err
	case carry.Inside(string(conflict.Blocker.Owner)):
		return nil, fmt.Errorf("%w (%s)", fault.ErrNoRequestContext, conflict.Error())
	case req.Wait == pathlock.NoWait:
		return nil, err
	default:
		return p.Locker.Acquire(scope.Context(ctx), req)
	}
}
