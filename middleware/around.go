package middleware

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/carry"
	"github.com/pathlock-go/pathlock/lockspec"
)

// runLocked runs the rest of the handler chain under the spec's locks.
func (m *Locks) runLocked(c *gin.Context, spec lockspec.Spec) {
	if isUnrouted(c) {
		return
	}
	v, err := m.visit(c, spec)
	if err != nil {
		m.refuse(c, err)
		return
	}
	outer := c.Request.Context()
	ctx := outer
	for _, r := range m.prepared {
		ctx = r.Prepare(ctx)
	}
	defer v.detach(outer)
	locks, err := v.acquire(ctx)
	if err != nil {
		m.refuse(c, err)
		return
	}
	defer locks.release(outer)
	defer v.follow(outer, locks)
	if !c.IsAborted() {
		m.serve(locks.context(ctx), c, len(locks.taken) > 0)
	}
}

// visit begins to work for a request: its token and its body are there, and nothing is locked yet.
func (m *Locks) visit(c *gin.Context, spec lockspec.Spec) (*visit, error) {
	token, err := m.tokenOf(c)
	if err != nil {
		return nil, err
	}
	if err := m.readAhead(c); err != nil {
		return nil, err
	}
	return &visit{
		Locks: m, c: c, spec: spec, values: newValues(c, spec, &m.config), budget: newBudget(m.wait), carried: token,
	}, nil
}

// isUnrouted reports whether gin has no route for the request and is about to say so: middleware of
// the whole engine runs then, too.
func isUnrouted(c *gin.Context) bool {
	status := c.Writer.Status()
	return c.FullPath() == "" && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed)
}

// refuse answers a request that is not served.
func (m *Locks) refuse(c *gin.Context, err error) {
	c.Abort()
	m.config.OnError(c, err)
}

// serve runs the rest of the chain with a request of its own that has the context ctx. Afterwards,
// those outside of it find the request that they know, with all that was done to it.
func (m *Locks) serve(ctx context.Context, c *gin.Context, locked bool) {
	outer := c.Request
	c.Request = outer.WithContext(ctx)
	defer func() {
		inner := c.Request
		c.Request = outer
		if inner == nil {
			return
		}
		adopt(outer, inner)
		if left := inner.Context(); left != ctx {
			c.Request = outer.WithContext(&afterwards{Context: outer.Context(), values: left})
		}
	}()
	if !locked {
		c.Next()
		return
	}
	// gin's own context finds what was set on it by a string, and does not look into the request's.
	carrier := carry.New(ctx, c)
	before, nested := c.Get(m.carrier)
	c.Set(m.carrier, carrier)
	defer func() {
		carrier.End()
		if nested {
			c.Set(m.carrier, before)
		} else {
			c.Delete(m.carrier)
		}
	}()
	carry.Run(string(m.locker.Scope(ctx).Owner()), c.Next)
}

// adopt does to outer what was done to inner, a copy of it: net/http removes the files of the form
// that its own request has, for example.
func adopt(outer, inner *http.Request) {
	if inner == outer {
		return
	}
	outer.Method, outer.URL, outer.Proto, outer.ProtoMajor, outer.ProtoMinor = inner.Method, inner.URL, inner.Proto, inner.ProtoMajor, inner.ProtoMinor
	outer.Header, outer.Trailer, outer.TransferEncoding = inner.Header, inner.Trailer, inner.TransferEncoding
	outer.Body, outer.GetBody, outer.ContentLength = inner.Body, inner.GetBody, inner.ContentLength
	outer.Form, outer.PostForm, outer.MultipartForm = inner.Form, inner.PostForm, inner.MultipartForm
	outer.Close, outer.Host, outer.RemoteAddr, outer.RequestURI = inner.Close, inner.Host, inner.RemoteAddr, inner.RequestURI
	outer.TLS, outer.Response, outer.Pattern = inner.TLS, inner.Response, inner.Pattern
}

// afterwards is the context of a request once its locks are released: it has the values that were
// added under the locks, and ends when the context outside of them does.
type afterwards struct {
	context.Context
	values context.Context
}

// Value implements [context.Context].
func (a *afterwards) Value(key any) any {
	if carry.IsOfLocks(key) {
		return a.Context.Value(key)
	}
	return carry.Value(a.values, a.Context, key)
}
