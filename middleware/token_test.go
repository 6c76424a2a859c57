package middleware_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// having is a handler that has a path of the plan, by gin's context and by its request's.
func (f *fixture) having(path string) gin.HandlerFunc {
	return func(c *gin.Context) {
		for _, ctx := range []context.Context{c, c.Request.Context()} {
			if err := f.tryUnder(ctx, path); err != nil {
				f.Errorf("the handler does not hold %s: %v", path, err)
			}
		}
		if c.Next(); !c.Writer.Written() {
			c.Status(http.StatusNoContent)
		}
	}
}

func TestToken_letsTheHolderPass(t *testing.T) {
	for _, vary := range []func(lockspec.Spec) lockspec.Spec{lockspec.Spec.ParentExclusive, lockspec.Spec.Asserted} {
		f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait}, vary)
		mine := f.detached(plan, "/dir1")
		w := f.send("DELETE", "/suites/3", "")
		f.is("without a token", w, http.StatusLocked, "locked")
		if holder := f.problem(w).Holder; holder == nil || holder.What != "anna edits" || !holder.Detached || time.Until(holder.Until).Round(time.Minute) != time.Hour {
			t.Errorf("the holder is %+v", holder)
		}
		f.handler = f.having("/dir1/dir2")
		f.is("inside", f.send("DELETE", "/suites/3", "", token(mine)...), http.StatusNoContent, "")
		f.is("the node itself", f.send("DELETE", "/suites/2", "", token(mine)...), http.StatusNoContent, "")
		f.is("several trees, around", f.send("PUT", "/plans/1", "", token(mine)...), http.StatusNoContent, "")
		f.only("after several trees", "X /dir1")
		f.handler = f.holding("X /dir1", "X /other")
		f.is("elsewhere", f.send("DELETE", "/suites/4", "", token(mine)...), http.StatusNoContent, "")
		f.only("after the requests", "X /dir1")
	}
}

func TestToken(t *testing.T) {
	forbid := func(*gin.Context, []lockspec.Node) error { return middleware.NewProblem(403, "forbidden", "no") }
	inIf := func(r *http.Request) pathlock.Token { return pathlock.Token(r.Header.Get("If")) }
	for _, tt := range []struct {
		what    string
		config  middleware.Config
		target  string
		header  func(f *fixture) []string
		status  int
		problem string
	}{
		{"malformed", middleware.Config{}, "/suites/4", func(*fixture) []string { return token("nonsense") }, 400, "invalid-request"},
		{"two", middleware.Config{}, "/suites/4", func(f *fixture) []string {
			return token(f.detached(plan, "/dir1") + ", " + f.detached(plan, "/x"))
		}, 400, "invalid-request"},
		{"malformed, and switched off", middleware.Config{Token: middleware.NoToken}, "/suites/4", func(*fixture) []string { return token("nonsense") }, 204, ""},
		{"in another place", middleware.Config{Token: inIf}, "/suites/4", func(f *fixture) []string { return []string{"If", string(f.detached(plan, "/other"))} }, 204, ""},
		{"of another tree", middleware.Config{}, "/suites/4", func(f *fixture) []string { return token(f.detached(elsewhere, "/other")) }, 204, ""},
		{"ended", middleware.Config{}, "/suites/4", func(f *fixture) []string { return token(f.end(f.detached(plan, "/x"))) }, 409, "lock-lost"},
		{"ended, of a node that does not exist", middleware.Config{}, "/suites/99", func(f *fixture) []string { return token(f.end(f.detached(plan, "/x"))) }, 404, "not-found"},
		{"no authorization", middleware.Config{Authorize: forbid}, "/suites/4", func(f *fixture) []string { return token(f.end(f.detached(plan, "/x"))) }, 403, "forbidden"},
	} {
		f := newFixture(t, memstore.New(), tt.config)
		if tt.status != http.StatusNoContent {
			f.handler = f.mustNotServe
		}
		f.is(tt.what, f.send("DELETE", tt.target, "", tt.header(f)...), tt.status, tt.problem)
	}
}

// A node that moves while it is locked is locked where it is, under the hold all the same; also
// where it comes into the hold's tree only then.
func TestToken_outlastsRetries(t *testing.T) {
	inside, beside := pathlock.MustParsePath("/dir1/dir2"), pathlock.MustParsePath("/beside")
	for what, found := range map[string][2]pathlock.Location{
		"into the hold":                     {{Tree: plan, Path: beside}, {Tree: plan, Path: inside}},
		"out of the hold":                   {{Tree: plan, Path: inside}, {Tree: plan, Path: beside}},
		"within the hold":                   {{Tree: plan, Path: inside.Parent()}, {Tree: plan, Path: inside}},
		"from another tree":                 {{Tree: elsewhere, Path: beside}, {Tree: plan, Path: inside}},
		"from another tree beside the hold": {{Tree: elsewhere, Path: inside}, {Tree: plan, Path: beside}},
	} {
		f := newFixture(t, memstore.New(), middleware.Config{})
		mine := f.detached(plan, "/dir1")
		looks := 0
		locks := middleware.New(f.locker, pathlock.ResolverFunc(func(context.Context, string) (pathlock.Location, error) {
			looks++
			return found[min(looks, 2)-1], nil
		}), middleware.Config{Wait: pathlock.NoWait})
		f.engine.DELETE("/moving/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), f.having("/dir1/dir2"))
		f.is(what, f.send("DELETE", "/moving/3", "", token(mine)...), http.StatusNoContent, "")
		f.only(what, "X /dir1")
	}
}

// Specs within specs share the hold that the outer one has attached; what the outer one has no use
// for is refused.
func TestToken_nestedSpecs(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
	mine := f.detached(plan, "/dir1")
	again, inner := f.having("/dir1"), f.locks.Lock(lockspec.Delete(lockspec.Param("id")))
	f.engine.POST("/inside/:id", f.locks.Lock(lockspec.Delete(lockspec.Const("2"))), again, inner, again)
	f.engine.POST("/names/:id", f.locks.Lock(lockspec.Names("project", lockspec.Const("p"))), inner, f.mustNotServe)
	f.is("both in the tree", f.send("POST", "/inside/3", "", token(mine)...), http.StatusNoContent, "")
	f.is("the inner one alone", f.send("POST", "/names/3", "", token(mine)...), http.StatusInternalServerError, "internal")
	f.only("afterwards", "X /dir1")
}
