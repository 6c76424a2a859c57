package middleware

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/gincontext"
	"github.com/pathlock-go/pathlock/internal/web"
	"github.com/pathlock-go/pathlock/lockspec"
)

// visit is one request on its way through the middleware.
type visit struct {
	*Locks
	c *gin.Context
	// request is what c has, unless gin has given c to another request.
	request *http.Request
	spec    lockspec.Spec
	reads   values // those of the spec's sources
	values  lockspec.Values
	// waitsUntil is when the request gives up.
	waitsUntil time.Time
	// carried is the request's token. hold is what it names, nil until the request uses it.
	carried carried
	hold    *hold
	// moves are those of the latest plan.
	moves []lockspec.Moved
	// note replaces the spec's, unless it is "".
	note string
	// asserted says that the request can go on without the lock store.
	asserted bool
	// authorized are the nodes of the latest call of [Config.Authorize].
	authorized []lockspec.Node
	asked      bool
}

// runLocked runs the rest of the handler chain under the spec's locks.
func (m *Locks) runLocked(c *gin.Context, spec lockspec.Spec) {
	if isUnrouted(c) {
		return
	}
	if gincontext.IsLast(c) {
		m.refuse(c, errLast)
		return
	}
	v, err := m.visit(c, spec)
	if err != nil {
		m.refuse(c, err)
		return
	}
	outer := c.Request.Context()
	ctx := m.withOrigin(c, spec)
	for _, r := range m.prepared {
		ctx = r.Prepare(ctx)
	}
	v.request = c.Request
	defer v.detach(outer)
	locks, err := v.acquire(ctx)
	defer locks.release(outer)
	switch {
	case c.Request != v.request:
		return // it was answered meanwhile, and c is another request's
	case err != nil:
		m.refuse(c, err)
		return
	}
	defer v.follow(outer, locks)
	if locks.degraded() {
		c.Header(degradedHeader, "true")
	}
	switch {
	case c.IsAborted():
	case len(locks.taken) > 0:
		m.serveLocked(locks.context(ctx), c)
	default:
		m.serve(ctx, c, false)
	}
}

// visit returns the visit of a request, with its token, its body and its values read and nothing
// locked.
func (m *Locks) visit(c *gin.Context, spec lockspec.Spec) (*visit, error) {
	token, err := m.tokenOf(c)
	if err != nil {
		return nil, err
	}
	body, unread := web.ReadBody(c.Writer, c.Request, c, m.config.MaxBody, m.config.BodyTimeout)
	if errors.Is(unread, web.ErrTimeout) {
		return nil, m.unreadBody(c.Request.Context(), unread)
	}
	v := &visit{
		Locks: m, c: c, spec: spec, reads: values{locks: m, c: c, body: body, unread: unread}, waitsUntil: time.Now().Add(m.wait), carried: token, asserted: spec.IsAsserted(),
	}
	v.values, err = spec.Read(v.reads.get)
	return v, err
}

// requestIDHeader is the header that [headerRequestID] reads.
const requestIDHeader = "X-Request-Id"

// headerRequestID is the default of [Config.RequestID].
func headerRequestID(c *gin.Context) string {
	return cmp.Or(c.GetHeader(requestIDHeader), c.Writer.Header().Get(requestIDHeader))
}

// withOrigin returns the context of a request with where its locks come from.
func (m *Locks) withOrigin(c *gin.Context, spec lockspec.Spec) context.Context {
	return pathlock.WithOrigin(c.Request.Context(), pathlock.Origin{
		Operation: spec.Operation(),
		Route:     c.Request.Method + " " + c.FullPath(),
		RequestID: m.config.RequestID(c),
	})
}

// isUnrouted reports whether gin has no route for the request and is about to say so. Middleware of
// the whole engine runs for such a request too.
func isUnrouted(c *gin.Context) bool {
	status := c.Writer.Status()
	return c.FullPath() == "" && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed)
}

// errLast refuses to lock when no handler follows.
var errLast = errors.New("middleware: no handler follows, so nothing would run under the locks: " +
	"register Lock before the handler; a handler that locks by itself uses Locker.Acquire")

// refuse answers a request with an error instead of serving it.
func (m *Locks) refuse(c *gin.Context, err error) {
	c.Abort()
	m.config.OnError(c, err)
}

// errPanicked is the error of a step that a panic has ended.
var errPanicked = errors.New("middleware: a panic")

// serveLocked is serve under locks, as a step that observers see.
func (m *Locks) serveLocked(ctx context.Context, c *gin.Context) {
	work, done := m.locker.Step(ctx, pathlock.Step{Kind: pathlock.StepHandler})
	failures, served := len(c.Errors), false
	defer func() {
		switch {
		case !served:
			done(errPanicked)
		case ctx.Err() != nil:
			done(context.Cause(ctx))
		case len(c.Errors) > failures:
			done(c.Errors.Last().Err)
		default:
			done(nil)
		}
	}()
	m.serve(work, c, true)
	served = true
}

// serve runs the rest of the chain with a copy of the request that has the context ctx. Afterwards,
// outer middleware finds its own request again, with what the copy has of the body.
func (m *Locks) serve(ctx context.Context, c *gin.Context, locked bool) {
	outer := c.Request
	end := func() {}
	if locked {
		var request *gincontext.Request
		ctx, request = gincontext.New(ctx)
		end = request.End
	}
	inner := outer.WithContext(ctx)
	c.Request = inner
	defer func() {
		end() // nobody reads c.Request from now on
		if left := gincontext.Restore(&c.Request, outer, inner); left != nil {
			// Such as files of the form, which net/http removes for its own request. A copy of
			// gin's context may be reading the rest.
			outer.Body, outer.Form, outer.PostForm, outer.MultipartForm = left.Body, left.Form, left.PostForm, left.MultipartForm
		}
	}()
	c.Next()
}

// isUnderLocks reports whether a handler that [Locks.serveLocked] has called works under ctx.
func (m *Locks) isUnderLocks(ctx context.Context) bool {
	return m.locker.Serves(m.locker.Scope(ctx).Owner())
}
