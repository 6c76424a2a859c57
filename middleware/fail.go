package middleware

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
)

// ErrAnswered is why [Locks.Detach] has taken nothing: [Config.Authorize] has answered the request
// itself. [Locks.Fail] adds nothing to that.
var ErrAnswered = errors.New("middleware: the request has been answered by Authorize")

// Fail answers a request that failed with err, as [Locks.ProblemOf] says, and with 500 and no
// detail for what it does not know. It aborts the request, and writes nothing if the response has
// been begun.
//
// A request whose lock was lost meanwhile is answered 503, whatever the work stumbled over because
// of it, and 409 where that was the hold which its token names; one whose client has gone away by
// [StatusClientGone] and nothing else.
//
// What is answered 500 or 503 is logged once, with the route and the cause, by [Config.Log]; that a
// client went away is logged at the level of information.
func (m *Locks) Fail(c *gin.Context, err error) {
	_ = c.Error(err)
	c.Abort()
	if errors.Is(err, ErrAnswered) {
		return
	}
	p := m.problemFor(c.Request.Context(), err)
	switch begun := c.Writer.Written(); {
	case p == nil:
		m.log(c, StatusClientGone, err)
		if !begun {
			c.AbortWithStatus(StatusClientGone)
		}
		return
	case begun:
		m.log(c, 0, err)
		return
	}
	if p.RetryAfter > 0 && p.RetryAfter < m.config.RetryAfter {
		later := *p
		later.RetryAfter = m.config.RetryAfter
		p = &later
	}
	m.log(c, p.Status, err)
	if m.config.Redact != nil {
		shown := *p
		m.config.Redact(c, &shown)
		p = &shown
	}
	WriteProblem(c, p)
}

// problemFor returns what to answer under a request's context, and nil for a client that has gone.
func (m *Locks) problemFor(ctx context.Context, err error) *Problem {
	if errors.Is(err, ErrClientGone) {
		return nil
	}
	p := m.ProblemOf(err)
	if p != nil && p.Status < http.StatusInternalServerError && p.Status != http.StatusLocked {
		return p
	}
	if _, chosen := errors.AsType[*Problem](err); chosen {
		return p
	}
	// Work that was cut off stumbles over anything: why it was cut off is what matters.
	switch cause := context.Cause(ctx); {
	case cause == nil:
	case pathlock.FailureOf(cause) == pathlock.FailureLockLost:
		// That somebody may have written all the same matters more.
		if p != nil && p.Type == ProblemType+string(pathlock.FailureOutcomeUnknown) {
			return p
		}
		return holdEnded()
	case errors.Is(cause, pathlock.ErrLost):
		return lost()
	case errors.Is(cause, context.DeadlineExceeded):
		return timeout()
	case errors.Is(cause, context.Canceled):
		return nil
	default:
		if p := m.ProblemOf(cause); p != nil {
			return p
		}
		// A reason that says nothing to clients is one of the program's own, for the same two ends.
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return timeout()
		}
	}
	gone := errors.Is(err, context.Canceled) && ctx.Err() != nil
	switch {
	case p != nil || gone:
		return p
	case errors.Is(err, context.DeadlineExceeded):
		return timeout()
	default:
		return NewProblem(http.StatusInternalServerError, "internal", "an internal error; the log has more")
	}
}

// log tells the log of a failure that the client cannot do anything about, of any where the status
// is 0, as the response had been begun, and of a client that has gone.
func (m *Locks) log(c *gin.Context, status int, err error) {
	level, text := slog.LevelError, "middleware: request failed"
	switch {
	case status == 0 || status == http.StatusInternalServerError:
	case status > http.StatusInternalServerError:
		level = slog.LevelWarn
	case status == StatusClientGone:
		level, text = slog.LevelInfo, "middleware: the client went away"
	default:
		return
	}
	ctx := c.Request.Context()
	attrs := []slog.Attr{slog.String("method", c.Request.Method), slog.String("route", c.FullPath()), slog.Any("error", err)}
	if status != 0 {
		attrs = append(attrs, slog.Int("status", status))
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		attrs = append(attrs, slog.Any("cause", cause))
	}
	m.config.Log.LogAttrs(ctx, level, text, attrs...)
}
