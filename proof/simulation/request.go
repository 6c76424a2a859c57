package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

// route is one that the middleware guards, and what a handler of it relies on.
type route struct {
	name   string
	spec   lockspec.Spec
	claims func(pathlock.Path) []pathlock.Claim // nil for the gate
}

var routes = func() []route {
	id := lockspec.Param("id")
	one := func(mode pathlock.Mode) func(pathlock.Path) []pathlock.Claim {
		return func(p pathlock.Path) []pathlock.Claim { return []pathlock.Claim{{Path: p, Mode: mode}} }
	}
	return []route{
		{"edit", lockspec.Edit(id), one(pathlock.ModeIX)},
		{"read", lockspec.Read(id), one(pathlock.ModeS)},
		{"delete", lockspec.Delete(id), one(pathlock.ModeX)},
		{"rename", lockspec.Rename(id, lockspec.Query("to")), func(p pathlock.Path) []pathlock.Claim {
			to, err := p.Parent().Child("d")
			if err != nil {
				panic(err)
			}
			return []pathlock.Claim{{Path: p, Mode: pathlock.ModeX}, {Path: to, Mode: pathlock.ModeX}}
		}},
		{"gate", lockspec.Gate(id), nil},
	}
}()

// visit is a request on its way through an instance.
type visit struct {
	*caller
	hold    *hold
	before  uint64    // the latest fence when it was sent
	handled time.Time // when the handler began, zero if it did not
}

type visitKey struct{}

// newEngine returns an instance's routes. A request waits for others for that long.
func (i *instance) newEngine() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	nodes := pathlock.ResolverFunc(func(_ context.Context, id string) (pathlock.Location, error) {
		var tree, path int
		_, err := fmt.Sscanf(id, "%d.%d", &tree, &path)
		return pathlock.Location{Tree: trees[tree], Path: pathlock.MustParsePath(paths[path])}, err
	})
	locks := middleware.New(i.locker, nodes, middleware.Config{Wait: i.wait, MaxHold: i.lease, Log: slog.New(slog.DiscardHandler)})
	engine := gin.New()
	for _, r := range routes {
		engine.PUT("/"+r.name+"/:id", locks.Lock(r.spec), func(c *gin.Context) {
			ctx := c.Request.Context()
			ctx.Value(visitKey{}).(*visit).handle(ctx)
			if err := context.Cause(ctx); err != nil {
				locks.Fail(c, err)
				return
			}
			c.Status(http.StatusNoContent)
		})
	}
	return engine
}

// handle is what every handler does: it relies on the locks of its route for some time.
func (v *visit) handle(ctx context.Context) {
	v.handled = time.Now()
	// This acquires what the request has already, to learn the fence.
	lock, err := v.locker.Acquire(ctx, pathlock.Request{Tree: v.hold.tree, Claims: v.hold.claims, Gate: v.hold.gate, Wait: pathlock.NoWait})
	if err != nil {
		if ctx.Err() == nil && v.kind != lossy && !v.isRevoked(v.hold.scope) {
			v.failf("the handler of %s lacks what its route locks: %v", v.hold.name, err)
		}
		return
	}
	v.hold.fence, v.hold.until = lock.Fence(), lock.Until
	v.began(ctx, v.hold, v.before)
	v.rest(ctx, 0.3)
	v.ended(v.hold)
	_ = lock.Release(ctx) // the request has it, too
}

// request sends a request to the instance, and judges the answer.
func (c *caller) request(scope int) {
	r, tree := routes[c.random.IntN(len(routes))], c.random.IntN(2)
	path := 1 + c.random.IntN(len(paths)-1) // the root is not deleted
	h := &hold{name: fmt.Sprintf("%s/%d/%d", c.name, scope, c.random.Uint32()), scope: scope, tree: trees[tree], gate: r.claims == nil}
	if !h.gate {
		h.claims = r.claims(pathlock.MustParsePath(paths[path]))
	}
	ctx, cancelled, end := c.cancelling(context.Background())
	defer end()
	v := &visit{caller: c, hold: h, before: c.latest(h.tree)}
	asked, w := time.Now(), httptest.NewRecorder()
	sent := httptest.NewRequestWithContext(context.WithValue(ctx, visitKey{}, v), http.MethodPut, fmt.Sprintf("/%s/%d.%d?to=d", r.name, tree, path), http.NoBody)
	sent.Header.Set("X-Request-Id", h.name)
	c.engine.ServeHTTP(w, sent)
	c.note("%s %s of %s in %v, wait %v: %d", h.name, r.name, paths[path], h.tree, c.wait, w.Code)
	if v.handled.IsZero() || c.kind == quiet {
		c.finish(h.name)
	}
	ended := time.Now()
	if !v.handled.IsZero() {
		ended = v.handled
	}
	if took := ended.Sub(asked); took > min(c.wait+c.within(), cancelled+timeout+grace)+time.Millisecond && c.dead.Err() == nil {
		c.failf("%s was to wait %v, was cancelled after %v, and took %v: %d", h.name, c.wait, cancelled, took, w.Code)
	}
	possible := []int{http.StatusNoContent, http.StatusConflict, http.StatusLocked, http.StatusServiceUnavailable, middleware.StatusClientGone}
	if !slices.Contains(possible, w.Code) {
		c.failf("%s is answered with %d %s", h.name, w.Code, w.Body)
	}
}
