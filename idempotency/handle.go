package idempotency

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gincontext"
	"github.com/pathlock-go/pathlock/internal/web"
	"github.com/pathlock-go/pathlock/middleware"
)

// The types of the problems, behind [middleware.ProblemType].
const (
	slugMissing   = "idempotency-key-missing"
	slugMalformed = "idempotency-key-malformed"
	slugReused    = "idempotency-key-reused"
	slugInUse     = "idempotency-key-in-use"
	slugLost      = "idempotency-answer-lost"
)

// finishTimeout bounds how long recording the end of a request may take.
const finishTimeout = 5 * time.Second

// Handle is the middleware. Mount it after authentication, and before
// [middleware.Locks.Lock]: a repetition that is answered takes no locks.
//
//	r.POST("/plans/:plan/suites", keys.Handle, locks.Lock(spec), create)
//
// GET, HEAD, OPTIONS and TRACE pass. The handler works with the request's context, as ever:
// db.WithContext(c.Request.Context()).
//
// Refusals are problems of these types:
//
//   - 400 idempotency-key-missing, idempotency-key-malformed;
//   - 409 idempotency-key-in-use: the first request is still running; Retry-After says when to ask;
//   - 409 idempotency-answer-lost: the first request took effect, and its answer is not known;
//   - 422 idempotency-key-reused: the method, the URL or the body differ;
//   - 408 request-timeout, 413 too-large, and 503 database-unavailable: nothing was run.
func (k *Keys) Handle(c *gin.Context) {
	switch c.Request.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return
	}
	if r := requestOf(c.Request.Context()); r != nil && r.keys == k {
		return // it is there twice, or the request was handed on
	}
	if gincontext.IsLast(c) {
		k.misplaced(c, "no handler follows, so nothing would run under the key: register Handle before the handler")
		return
	}
	if k.config.Scope == nil {
		k.misplaced(c, "Config.Scope is missing: say whose keys they are, or use OneScope")
		return
	}
	values := c.Request.Header.Values(Header)
	if len(values) == 0 {
		if k.config.Required {
			k.fail(c, middleware.NewProblem(http.StatusBadRequest, slugMissing, "the request needs the header "+Header))
		}
		return
	}
	key, err := parseKey(values)
	if err != nil {
		k.fail(c, middleware.NewProblem(http.StatusBadRequest, slugMalformed, middleware.ClientDetail(err)))
		return
	}
	fingerprint, err := k.fingerprint(c)
	if errors.Is(err, web.ErrGone) {
		k.misplaced(c, err.Error())
		return
	}
	if err != nil {
		k.fail(c, unreadable(err))
		return
	}
	scope := k.config.Scope(c)
	if scope == "" {
		k.misplaced(c, "Config.Scope returned nothing: put Handle behind the authentication, or give anonymous callers a scope")
		return
	}
	r := &request{keys: k, id: hash(scope, key), attempt: rand.Text()}
	asking := c.Request
	found, err := k.claim(asking.Context(), r, fingerprint)
	switch {
	case c.Request != asking: // it was answered meanwhile, and c is another request's
		if err == nil && found == nil {
			r.giveBack(asking.Context())
		}
	case err != nil:
		k.refuse(c, err)
	case found != nil:
		k.replay(c, found)
	default:
		r.run(c)
	}
}

// fail refuses a request.
func (k *Keys) fail(c *gin.Context, p *middleware.Problem) {
	c.Abort()
	k.config.Fail(c, p)
}

// refuse answers a request whose key was not claimed.
func (k *Keys) refuse(c *gin.Context, err error) {
	ctx := c.Request.Context()
	switch {
	case errors.Is(err, ErrInUse):
		k.fail(c, middleware.NewRetryableProblem(http.StatusConflict, slugInUse, "a request with this "+Header+" is still running"))
	case errors.Is(err, ErrReused):
		k.fail(c, middleware.NewProblem(http.StatusUnprocessableEntity, slugReused, "this "+Header+" was used for another request: its method, URL or body differ"))
	case errors.Is(err, errNoMore):
		k.fail(c, middleware.NewProblem(http.StatusConflict, slugLost, "the request with this "+Header+" took effect, at least in part, but its answer was lost: check the outcome before you send it with a new key"))
	case errors.Is(ctx.Err(), context.Canceled):
		k.fail(c, middleware.NewProblem(middleware.StatusClientGone, "client-gone", "the client went away before the answer"))
	default:
		k.config.Log.ErrorContext(ctx, "idempotency: claiming a key failed", "route", c.FullPath(), "error", err)
		switch failure := k.failureOf(err); {
		case ctx.Err() != nil: // its deadline
			k.fail(c, middleware.NewRetryableProblem(http.StatusServiceUnavailable, "timeout", "the request took too long"))
		case failure == pathlock.FailureDatabase, failure == pathlock.FailureLocked:
			k.fail(c, middleware.NewRetryableProblem(http.StatusServiceUnavailable, string(pathlock.FailureDatabase), "the database cannot serve the request"))
		default:
			k.fail(c, internal())
		}
	}
}

// misplaced refuses a request that the program has prepared wrongly.
func (k *Keys) misplaced(c *gin.Context, reason string) {
	k.config.Log.ErrorContext(c.Request.Context(), "idempotency: "+reason, "route", c.FullPath())
	k.fail(c, internal())
}

func internal() *middleware.Problem {
	return middleware.NewProblem(http.StatusInternalServerError, "internal", "an internal error; the log has the details")
}

// replay sends the recorded answer.
func (k *Keys) replay(c *gin.Context, found *row) {
	headers := make(http.Header)
	if err := json.Unmarshal([]byte(found.Headers), &headers); err != nil {
		k.refuse(c, fmt.Errorf("idempotency: a recorded answer: %w", err))
		return
	}
	c.Abort()
	maps.Copy(c.Writer.Header(), headers)
	c.Header(ReplayedHeader, "true")
	c.Status(found.Status)
	if len(found.Body) > 0 {
		_, _ = c.Writer.Write(found.Body) // the client may have gone
		return
	}
	c.Writer.WriteHeaderNow()
}

// run lets the handlers that follow serve the request, and records how it ended.
func (r *request) run(c *gin.Context) {
	outer, w := c.Request, newCapture(c, r.keys.config.MaxAnswer)
	ctx := gormplugin.WithBeforeCommit(context.WithValue(outer.Context(), requestKey{}, r), r.mark)
	ctx, running := gincontext.New(ctx)
	inner := outer.WithContext(ctx)
	c.Request, c.Writer = inner, w
	c.Set(r, true)
	returned, errorsBefore := false, len(c.Errors)
	defer func() {
		if left := gincontext.Restore(&c.Request, outer, inner); left != nil {
			outer.Body, outer.Form, outer.PostForm, outer.MultipartForm = left.Body, left.Form, left.PostForm, left.MultipartForm
		}
	}()
	defer func() {
		// gin.Engine.HandleContext removes values and the writer from c: nobody recorded the
		// answer.
		w.incomplete = w.incomplete || !c.GetBool(r)
		w.broken = w.broken || isAborted(c.Errors[min(errorsBefore, len(c.Errors)):])
		// c.Writer stays: c may be another request's now. What comes is passed on.
		running.End()
		r.ended.Store(true)
		final := returned && w.final(len(c.Errors) > errorsBefore)
		finish, cancel := context.WithTimeout(context.WithoutCancel(outer.Context()), finishTimeout)
		defer cancel()
		if err := r.finish(finish, w, final); err != nil {
			r.keys.config.Log.LogAttrs(finish, slog.LevelError, "idempotency: recording the end of a request failed",
				slog.String("route", c.FullPath()), slog.Int("status", w.Status()), slog.Any("error", err))
		}
	}()
	c.Next()
	returned = true
}

// isAborted reports whether a handler has broken its answer off by panicking with
// [http.ErrAbortHandler], as a proxy does. gin.Recovery adds that to the errors, and states no
// failure.
func isAborted(errs []*gin.Error) bool {
	return slices.ContainsFunc(errs, func(e *gin.Error) bool { return errors.Is(e, http.ErrAbortHandler) })
}

// finish records how the request ended: with its answer, without any effect, or with an effect
// whose answer nobody has.
func (r *request) finish(ctx context.Context, w *capture, final bool) error {
	if r.recorded.Load() {
		return nil
	}
	k := r.keys
	if !final || !k.config.Records(w.Status()) {
		// If a transaction was committed after all, as one whose answer was lost may be, its row
		// says so. This waits for one that is still on its way.
		released, err := k.exec(ctx, k.sql.release, r.id, r.attempt)
		if err != nil || released == 1 {
			return err
		}
		_, err = k.exec(ctx, k.sql.settle, r.id, r.attempt)
		return err
	}
	if w.incomplete {
		_, err := k.exec(ctx, k.sql.settle, r.id, r.attempt)
		return err
	}
	headers, err := k.encode(w.headers())
	if err != nil {
		return err
	}
	_, err = k.exec(ctx, k.sql.finish, w.Status(), headers, w.body, k.config.Keep.Milliseconds(), r.id, r.attempt)
	return err
}
