package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

// suiteLock keeps others from changing the suite or anything below it.
var suiteLock = lockspec.Slot(lockspec.Param("id")).Note("lock a suite")

// suiteLockAnswer is the answer to a client that locks a suite.
type suiteLockAnswer struct {
	Token pathlock.Token `json:"token"`
	Until time.Time      `json:"until"`
}

// lockSuite locks a suite beyond the end of the request. Requests with the token in the header
// Lock-Token pass: see [middleware.Config].
func (a *api) lockSuite(r request) (any, error) {
	if token := middleware.HeaderToken(r.gin.Request); token != "" {
		if err := a.refuseOwn(r, token); err != nil {
			return nil, err
		}
	}
	token, until, err := a.locks.Detach(r.gin, suiteLock, r.lasts, r.note)
	return suiteLockAnswer{token, until.UTC()}, err
}

// refuseOwn refuses to lock a suite whose new lock would wait for the request's own. It refuses a
// token whose hold has ended, too: the new lock does not need it, but its sender should learn that.
func (a *api) refuseOwn(r request, token pathlock.Token) error {
	claims, holder, err := a.heldBy(r.ctx, token)
	if err != nil {
		return err
	}
	suite, err := a.SuiteResolver.Resolve(r.ctx, r.gin.Param("id"))
	if err != nil {
		return err
	}
	path, err := a.Locker.Folded(suite.Path)
	tree, _ := token.Tree()
	if err != nil || tree != suite.Tree || !slices.ContainsFunc(claims, func(c pathlock.Claim) bool {
		return c.Mode == pathlock.ModeX && (c.Path.Contains(path) || path.Contains(c.Path))
	}) {
		return err
	}
	p := middleware.NewRetryableProblem(http.StatusLocked, string(pathlock.FailureLocked),
		"the lock of the request's own Lock-Token is in the way: PUT sets its end, DELETE releases it")
	p.Path, p.Mode, p.Holder = suite.Path.String(), pathlock.ModeX.String(), &holder
	return p
}

// refreshSuiteLock sets the end of a suite's lock, which may be an earlier one.
func (a *api) refreshSuiteLock(r request) (any, error) {
	token, err := a.suiteToken(r)
	if err != nil {
		return nil, err
	}
	until, err := a.Locker.Refresh(r.ctx, token, r.lasts)
	return suiteLockAnswer{token, until.UTC()}, err
}

// unlockSuite releases a suite's lock, even if the suite has been deleted meanwhile.
func (a *api) unlockSuite(r request) (any, error) {
	token, err := a.suiteToken(r)
	// The suite may be in the recycle bin while its path is still locked. The token names the lock.
	if tree, malformed := token.Tree(); errors.Is(err, pathlock.ErrNotFound) && malformed == nil && tree.Namespace() == a.Namespace {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return nil, a.Locker.ReleaseToken(r.ctx, token)
}

// suiteToken returns the request's token. It fails if the token is not that of a lock on the suite
// in the URL.
func (a *api) suiteToken(r request) (pathlock.Token, error) {
	token := middleware.HeaderToken(r.gin.Request)
	suite, err := a.SuiteResolver.Resolve(r.ctx, r.gin.Param("id"))
	if err != nil {
		return token, err
	}
	switch tree, err := token.Tree(); {
	case token == "":
		return "", invalidToken("is missing")
	case err != nil:
		return "", err
	case tree != suite.Tree:
		return "", invalidToken("is of a lock in another plan")
	}
	claims, _, err := a.heldBy(r.ctx, token)
	if err != nil {
		return "", err
	}
	path, err := a.Locker.Folded(suite.Path)
	if err != nil {
		return "", err
	}
	// The store behind off:// grants everything and keeps no claims.
	if len(claims) > 0 && !slices.Contains(claims, pathlock.X(path)) {
		return "", invalidToken("is of a lock on another suite")
	}
	return token, nil
}

// heldBy returns the claims of a token's hold, and the hold as others see it.
func (a *api) heldBy(ctx context.Context, token pathlock.Token) ([]pathlock.Claim, middleware.Holder, error) {
	lock, err := a.Locker.Attach(ctx, token, pathlock.WithoutRenewal())
	if err != nil {
		return nil, middleware.Holder{}, err
	}
	claims, holder := lock.Claims(), middleware.Holder{What: lock.Note(), Detached: true, Until: lock.Until().UTC()}
	if _, err := lock.Detach(ctx); err != nil {
		return nil, holder, fmt.Errorf("httpapi: detach a suite's lock: %w", err)
	}
	return claims, holder, nil
}
