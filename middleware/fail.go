package middleware

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/web"
)

// errAnswered is the error of a [Locks.Detach] that took nothing because [Config.Authorize]
// answered the request itself. [Locks.Fail] adds nothing to that answer.
var errAnswered = errors.New("middleware: Authorize has answered the request")

// Fail answers a request that failed with err: with the problem that [Locks.ProblemOf] returns, or
// with 500 and no detail for an unknown error. It aborts the request. It writes nothing if the
// response has begun. [Config.WriteProblem] can give the answer another form.
//
// A lost lock comes before the errors that follow from it. It is answered by 503, or by 409 if the
// hold of the request's token has ended. If the client has gone away, the answer is
// [StatusClientGone], which the program's own middleware may see. If the handler conflicts with its
// own request, as gormplugin.ErrNoRequestContext reports, the program has a bug, and the answer is
// 500.
//
// If own is given, such as a helper of the program, it gets the errors that would get that 500, and
// Fail logs, counts and aborts nothing. If the response has begun, Fail does not call own.
//
// The observers of the locker count the answer by its type: see [pathlock.Locker.Answered]. An
// answer of 500 or 503 is logged once by [Config.Log], with the route and the cause. A client
// that went away is logged at level info, and not counted.
func (m *Locks) Fail(c *gin.Context, err error, own ...func(c *gin.Context, err error)) {
	answered := errors.Is(err, errAnswered)
	p := m.answerTo(c.Request.Context(), err)
	if len(own) > 0 && own[0] != nil && p == errInternal && !answered && !c.Writer.Written() {
		own[0](c, err)
		return
	}
	_ = c.Error(err)
	c.Abort()
	if answered {
		return
	}
	gone := p.Status == StatusClientGone
	switch begun := c.Writer.Written(); {
	case begun && gone:
		m.log(c, p.Status, err)
		return
	case begun:
		m.log(c, 0, err)
		c.Status(p.Status) // the client does not get it, but package idempotency learns of it
		return
	}
	answer := *p // what is answered with may be shared
	p = &answer
	if p.RetryAfter > 0 {
		p.RetryAfter = max(p.RetryAfter, m.config.RetryAfter)
	}
	m.log(c, p.Status, err)
	if !gone {
		m.locker.Answered(c.Request.Context(), pathlock.Failure(p.Slug()))
	}
	if m.config.Redact != nil {
		m.config.Redact(c, p)
	}
	web.BeginProblem(c.Writer.Header(), p.RetryAfter)
	m.config.WriteProblem(c, p)
}

// answerTo returns the answer to err under a request's context.
func (m *Locks) answerTo(ctx context.Context, err error) *Problem {
	p := m.ProblemOf(err)
	if p != nil && p.Status < http.StatusInternalServerError && p.Status != http.StatusLocked {
		return p
	}
	if _, chosen := errors.AsType[*Problem](err); chosen {
		return p
	}
	if e, ok := errors.AsType[*pathlock.ConflictError](err); ok && e.Blocker.Owner == m.locker.Scope(ctx).Owner() {
		p = nil // the handler has waited for its own request: a bug that the log has to tell of
	}
	// Work that was cut off may fail with anything, so the cause of the end is what matters.
	switch cause := context.Cause(ctx); {
	case cause == nil:
	case pathlock.FailureOf(cause) == pathlock.FailureLockLost:
		// That something may have been written matters more.
		if p != nil && p.Slug() == string(pathlock.FailureOutcomeUnknown) {
			return p
		}
		return holdEnded()
	case errors.Is(cause, pathlock.ErrLost):
		return lost()
	case errors.Is(cause, context.DeadlineExceeded):
		return timeout()
	case errors.Is(cause, context.Canceled):
		return clientGone()
	default:
		if p := m.ProblemOf(cause); p != nil {
			return p
		}
		// The cause is one of the program's own. The context's error still tells the two ends
		// apart.
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return timeout()
		}
	}
	switch {
	case p != nil:
		return p
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return clientGone()
	case errors.Is(err, context.DeadlineExceeded):
		return timeout()
	default:
		return errInternal
	}
}

// errInternal is the answer to an error that nobody knows.
var errInternal = NewProblem(http.StatusInternalServerError, "internal", "an internal error; the log has the details")

// log logs failures that are not the client's to fix, and clients that have gone. A status of 0
// means that the response had begun: then it logs any failure.
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
