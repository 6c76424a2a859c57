package httpapi

import (
	"context"
	"errors"
	"fmt"
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
		// The new lock does not need the token, but its sender should learn that it has ended.
		if _, err := a.claimsOf(r.ctx, token); err != nil {
			return nil, err
		}
	}
	token, until, err := a.locks.Detach(r.gin, suiteLock, r.lasts, r.note)
	return suiteLockAnswer{token, until.UTC()}, err
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
	if errors.Is(err, pathlock.ErrNotFound) {
		// The suite may be in the recycle bin while its path is still locked. The token names the
		// lock.
		if tree, malformed := token.Tree(); malformed == nil && tree.Namespace() == a.Namespace {
			err = nil
		}
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
	if token == "" {
		return "", invalidToken("is missing")
	}
	switch tree, err := token.Tree(); {
	case err != nil:
		return "", err
	case tree != suite.Tree:
		return "", invalidToken("is of a lock in another plan")
	}
	claims, err := a.claimsOf(r.ctx, token)
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

// claimsOf returns the claims of a token's hold.
func (a *api) claimsOf(ctx context.Context, token pathlock.Token) ([]pathlock.Claim, error) {
	lock, err := a.Locker.Attach(ctx, token, pathlock.WithoutRenewal())
	if err != nil {
		return nil, err
	}
	claims := lock.Claims()
	if _, err := lock.Detach(ctx); err != nil {
		return nil, fmt.Errorf("httpapi: detach a suite's lock: %w", err)
	}
	return claims, nil
}
