package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

// How long the lock of a suite may last. It can be refreshed any number of times.
const (
	minSuiteLock = time.Second
	maxSuiteLock = time.Hour
)

// suiteLock is what a suite's lock keeps others from: whatever changes the suite, or anything
// below.
var suiteLock = lockspec.Slot(lockspec.Param("id")).Note("lock a suite")

// suiteLockAnswer is the answer to a client that locks a suite.
type suiteLockAnswer struct {
	Token pathlock.Token `json:"token"`
	Until time.Time      `json:"until"`
}

// lockSuite locks a suite beyond the end of the request. Requests with the token in the header
// Lock-Token pass: see [middleware.Config].
func (a *api) lockSuite(c *gin.Context) {
	body := bodyOf[suiteLockBody](c)
	if token := middleware.HeaderToken(c.Request); token != "" {
		// It takes nothing for this lock; but who sends one that has ended is to know.
		if _, err := a.claimsOf(c, token); err != nil {
			a.fail(c, err)
			return
		}
	}
	token, until, err := a.locks.Detach(c, suiteLock, body.For, body.Note)
	a.answer(c, http.StatusCreated, suiteLockAnswer{token, until.UTC()}, err)
}

// refreshSuiteLock sets the end of a suite's lock, also to earlier.
func (a *api) refreshSuiteLock(c *gin.Context) {
	token, err := a.suiteToken(c)
	if err != nil {
		a.fail(c, err)
		return
	}
	until, err := a.Locker.Refresh(c.Request.Context(), token, bodyOf[suiteLockBody](c).For)
	a.answer(c, http.StatusOK, suiteLockAnswer{token, until.UTC()}, err)
}

// unlockSuite releases a suite's lock, also where the suite has been deleted meanwhile.
func (a *api) unlockSuite(c *gin.Context) {
	token, err := a.suiteToken(c)
	if errors.Is(err, pathlock.ErrNotFound) {
		// Its id may be in the recycle bin, and its path is locked still. The token says enough.
		if tree, malformed := token.Tree(); malformed == nil && tree.Namespace() == a.Namespace {
			err = nil
		}
	}
	if err == nil {
		err = a.Locker.ReleaseToken(c.Request.Context(), token)
	}
	a.answer(c, http.StatusNoContent, nil, err)
}

// suiteToken returns the request's token, and the error of one that is not of a lock on the suite
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
	// A store that grants everything to everybody knows of no claims.
	if len(claims) > 0 && !slices.Contains(claims, pathlock.X(path)) {
		return "", invalidToken("is of a lock on another suite")
	}
	return token, nil
}

// claimsOf returns what the hold of a token has.
func (a *api) claimsOf(c *gin.Context, token pathlock.Token) ([]pathlock.Claim, error) {
	lock, err := a.Locker.Attach(c.Request.Context(), token, pathlock.WithoutRenewal())
	if err != nil {
		return nil, err
	}
	claims := lock.Claims()
	if _, err := lock.Detach(); err != nil {
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

// duration reads a field that has to be for how long a suite is locked.
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
