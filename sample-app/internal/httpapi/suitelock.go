package httpapi

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

// Bounds of how long a suite's lock lasts. A client may refresh it any number of times.
const (
	minSuiteLock = time.Second
	maxSuiteLock = time.Hour
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
func (a *api) lockSuite(c *gin.Context) (any, error) {
	body := bodyOf[suiteLockBody](c)
	if token := middleware.HeaderToken(c.Request); token != "" {
		// The new lock does not need the token, but its sender should learn that it has ended.
		if _, err := a.claimsOf(c, token); err != nil {
			return nil, err
		}
	}
	token, until, err := a.locks.Detach(c, suiteLock, body.For, body.Note)
	a.Feed.Look()
	return suiteLockAnswer{token, until.UTC()}, err
}

// refreshSuiteLock sets the end of a suite's lock, which may be an earlier one.
func (a *api) refreshSuiteLock(c *gin.Context) (any, error) {
	token, err := a.suiteToken(c)
	if err != nil {
		return nil, err
	}
	until, err := a.Locker.Refresh(c.Request.Context(), token, bodyOf[suiteLockBody](c).For)
	a.Feed.Look()
	return suiteLockAnswer{token, until.UTC()}, err
}

// unlockSuite releases a suite's lock, even if the suite has been deleted meanwhile.
func (a *api) unlockSuite(c *gin.Context) error {
	token, err := a.suiteToken(c)
	if errors.Is(err, pathlock.ErrNotFound) {
		// The suite may be in the recycle bin while its path is still locked. The token names the
		// lock.
		if tree, malformed := token.Tree(); malformed == nil && tree.Namespace() == a.Namespace {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	defer a.Feed.Look()
	return a.Locker.ReleaseToken(c.Request.Context(), token)
}

// suiteToken returns the request's token. It fails if the token is not that of a lock on the suite
// in the URL.
func (a *api) suiteToken(c *gin.Context) (pathlock.Token, error) {
	ctx := c.Request.Context()
	token := middleware.HeaderToken(c.Request)
	suite, err := a.SuiteResolver.Resolve(ctx, c.Param("id"))
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
	claims, err := a.claimsOf(c, token)
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
func (a *api) claimsOf(c *gin.Context, token pathlock.Token) ([]pathlock.Claim, error) {
	lock, err := a.Locker.Attach(c.Request.Context(), token, pathlock.WithoutRenewal())
	if err != nil {
		return nil, err
	}
	claims := lock.Claims()
	if _, err := lock.Detach(c.Request.Context()); err != nil {
		return nil, fmt.Errorf("httpapi: detach a suite's lock: %w", err)
	}
	return claims, nil
}

// suiteLockBody is the body of the routes that lock a suite.
type suiteLockBody struct {
	For  time.Duration
	Note string
}

func readSuiteLock(f *fields) suiteLockBody {
	body := suiteLockBody{For: f.duration("for"), Note: f.text("note")}
	if len(body.Note) > pathlock.MaxNoteBytes {
		f.invalid("note", fmt.Sprintf("is %d bytes long, at most %d are allowed", len(body.Note), pathlock.MaxNoteBytes))
	}
	return body
}

func readSuiteRefresh(f *fields) suiteLockBody { return suiteLockBody{For: f.duration("for")} }

// duration reads a field that says how long a suite's lock lasts.
func (f *fields) duration(name string) time.Duration {
	if !f.has(name) {
		f.invalid(name, "is missing")
		return 0
	}
	d, err := time.ParseDuration(f.text(name))
	switch {
	case err != nil:
		f.invalid(name, `must be a duration such as "10m" or "90s"`)
	case d < minSuiteLock || d > maxSuiteLock:
		f.invalid(name, fmt.Sprintf("must be at least %v and at most %v", minSuiteLock, maxSuiteLock))
	}
	return d
}
