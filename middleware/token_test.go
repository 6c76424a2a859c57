package middleware_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestAHoldersRequestsPassAndOthersAreToldTheHolder(t *testing.T) {
	for _, fixtureOf := range []func(*testing.T, pathlock.Store, middleware.Config) *fixture{newFixture, newAssertedFixture} {
		f := fixtureOf(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
		before := time.Now()
		mine := f.detached(plan, "/dir1")

		w := f.send("DELETE", "/suites/3", "")
		f.is("without a token", w, http.StatusLocked, "locked")
		holder, _ := f.problem(w)["holder"].(map[string]any)
		since, _ := time.Parse(time.RFC3339, fmt.Sprint(holder["since"]))
		until, _ := time.Parse(time.RFC3339, fmt.Sprint(holder["until"]))
		if holder["what"] != "anna edits" || holder["detached"] != true || since.Before(before.Add(-time.Second)) || until.Sub(before).Round(time.Minute) != time.Hour {
			t.Errorf("the holder is %v", holder)
		}

		f.handler = func(c *gin.Context) {
			for _, ctx := range []context.Context{c, c.Request.Context()} {
				again, err := f.locker.Acquire(ctx, pathlock.Request{Tree: plan, Claims: claim("/dir1/dir2"), Wait: pathlock.NoWait})
				if err != nil {
					t.Errorf("the handler does not find the locks: %v", err)
					continue
				}
				_ = again.Release(ctx)
			}
			c.Status(http.StatusNoContent)
		}
		f.is("inside", f.send("DELETE", "/suites/3", "", token(mine)...), http.StatusNoContent, "")
		f.is("the node itself", f.send("DELETE", "/suites/2", "", token(mine)...), http.StatusNoContent, "")
		f.is("around", f.send("PUT", "/plans/1", "", token(mine)...), http.StatusNoContent, "")
		f.handler = func(c *gin.Context) {
			if got, want := f.held(), []string{"X /dir1", "X /other"}; !slices.Equal(got, want) {
				t.Errorf("held %v, want %v", got, want)
			}
			c.Status(http.StatusNoContent)
		}
		f.is("elsewhere", f.send("DELETE", "/suites/4", "", token(mine)...), http.StatusNoContent, "")
		f.only("after the requests", "X /dir1")
		f.is("still without a token", f.send("DELETE", "/suites/3", ""), http.StatusLocked, "locked")
	}
}

func TestTokens(t *testing.T) {
	elsewhere, err := pathlock.NewTree("testplan", "2")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what    string
		config  middleware.Config
		request string
		header  func(f *fixture) []string
		status  int
		problem string
	}{
		{"none", middleware.Config{}, "DELETE /suites/4", func(*fixture) []string { return nil }, 204, ""},
		{"malformed", middleware.Config{}, "DELETE /suites/4", func(*fixture) []string { return token("nonsense") }, 400, "invalid-request"},
		{"two", middleware.Config{}, "DELETE /suites/4", func(f *fixture) []string {
			return token(f.detached(plan, "/dir1") + ", " + f.detached(plan, "/x"))
		}, 400, "invalid-request"},
		{"malformed, and switched off", middleware.Config{Token: middleware.NoToken}, "DELETE /suites/4", func(*fixture) []string { return token("nonsense") }, 204, ""},
		{"in another place", middleware.Config{Token: func(r *http.Request) pathlock.Token { return pathlock.Token(r.Header.Get("If")) }}, "DELETE /suites/4",
			func(f *fixture) []string { return []string{"If", string(f.detached(plan, "/other"))} }, 204, ""},
		{"of another tree", middleware.Config{}, "DELETE /suites/4", func(f *fixture) []string { return token(f.detached(elsewhere, "/other")) }, 204, ""},
		{"ended", middleware.Config{}, "DELETE /suites/4", func(f *fixture) []string { return token(f.released(plan)) }, 409, "lock-lost"},
		{"ended, of a node that does not exist", middleware.Config{}, "DELETE /suites/99", func(f *fixture) []string { return token(f.released(plan)) }, 404, "not-found"},
		{"no authorization", middleware.Config{Authorize: func(*gin.Context, []lockspec.Node) error {
			return middleware.NewProblem(http.StatusForbidden, "forbidden", "no")
		}}, "DELETE /suites/4", func(f *fixture) []string { return token(f.released(plan)) }, 403, "forbidden"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			f := newFixture(t, memstore.New(), tt.config)
			called := false
			f.handler = func(c *gin.Context) {
				called = true
				c.Status(http.StatusNoContent)
			}
			method, path, _ := strings.Cut(tt.request, " ")
			f.is(tt.what, f.send(method, path, "", tt.header(f)...), tt.status, tt.problem)
			if called != (tt.status == http.StatusNoContent) {
				t.Errorf("the handler was called: %v", called)
			}
		})
	}
}

// Several trees are taken by the one owner; the hold of the one stays, and the other is let go.
func TestATokenIsUsedAmongSeveralTrees(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
	names, err := pathlock.NewTree("project", "p")
	if err != nil {
		t.Fatal(err)
	}
	mine := f.detached(plan, "/dir1")
	f.is("without a token", f.send("PUT", "/plans/7", ""), http.StatusLocked, "locked")
	f.handler = func(c *gin.Context) {
		for _, tree := range []pathlock.Tree{names, plan} {
			again, err := f.locker.Acquire(c, pathlock.Request{Tree: tree, Gate: true, Wait: pathlock.NoWait})
			if err != nil {
				t.Errorf("the handler does not hold the gate of %s: %v", tree, err)
				continue
			}
			_ = again.Release(c)
		}
		c.Status(http.StatusNoContent)
	}
	f.is("with it", f.send("PUT", "/plans/7", "", token(mine)...), http.StatusNoContent, "")
	f.only("afterwards", "X /dir1")
	if snapshot, err := f.locker.Snapshot(t.Context(), names); err != nil || len(snapshot.Holders) > 0 {
		t.Errorf("the names are held still: %v, %v", snapshot.Holders, err)
	}
}

// A node that moves while it is locked is locked where it is, under the hold all the same; also
// where it comes into the hold's tree only then.
func TestATokenOutlastsRetries(t *testing.T) {
	elsewhere, err := pathlock.NewTree("testplan", "2")
	if err != nil {
		t.Fatal(err)
	}
	inside, beside := pathlock.MustParsePath("/dir1/dir2"), pathlock.MustParsePath("/beside")
	for what, found := range map[string][2]pathlock.Location{
		"into the hold":                     {{Tree: plan, Path: beside}, {Tree: plan, Path: inside}},
		"out of the hold":                   {{Tree: plan, Path: inside}, {Tree: plan, Path: beside}},
		"within the hold":                   {{Tree: plan, Path: inside.Parent()}, {Tree: plan, Path: inside}},
		"from another tree":                 {{Tree: elsewhere, Path: beside}, {Tree: plan, Path: inside}},
		"from another tree beside the hold": {{Tree: elsewhere, Path: inside}, {Tree: plan, Path: beside}},
	} {
		f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
		mine := f.detached(plan, "/dir1")
		looks := 0
		locks := middleware.New(f.locker, pathlock.ResolverFunc(func(context.Context, string) (pathlock.Location, error) {
			looks++
			return found[min(looks, 2)-1], nil
		}), middleware.Config{Wait: pathlock.NoWait})
		f.engine.DELETE("/moving/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), func(c *gin.Context) {
			again, err := f.locker.Acquire(c, pathlock.Request{Tree: plan, Claims: claim("/dir1/dir2"), Wait: pathlock.NoWait})
			if err != nil {
				t.Errorf("%s: %v", what, err)
				return
			}
			_ = again.Release(c)
			c.Status(http.StatusNoContent)
		})
		f.is(what, f.send("DELETE", "/moving/3", "", token(mine)...), http.StatusNoContent, "")
		f.only(what, "X /dir1")
		if snapshot, err := f.locker.Snapshot(t.Context(), elsewhere); err != nil || len(snapshot.Holders) > 0 {
			t.Errorf("%s: the other tree is held still: %v, %v", what, snapshot.Holders, err)
		}
	}
}

// Specs within specs share the hold that the outer one has attached; what the outer one has no use
// for is refused.
func TestATokenAndNestedSpecs(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	mine := f.detached(plan, "/dir1")
	locks := middleware.New(f.locker, f.nodes, middleware.Config{Wait: pathlock.NoWait})
	again := func(c *gin.Context) {
		lock, err := f.locker.Acquire(c, pathlock.Request{Tree: plan, Claims: claim("/dir1"), Wait: pathlock.NoWait})
		if err != nil {
			t.Errorf("the hold is not carried: %v", err)
			return
		}
		_ = lock.Release(c)
		c.Next()
	}
	inner := locks.Lock(lockspec.Delete(lockspec.Param("id")))
	f.engine.POST("/inside/:id", locks.Lock(lockspec.Delete(lockspec.Const("2"))), again, inner, again, func(c *gin.Context) { c.Status(http.StatusNoContent) })
	f.engine.POST("/names/:id", locks.Lock(lockspec.Names("project", lockspec.Const("p"))), inner, func(c *gin.Context) { c.Status(http.StatusNoContent) })
	f.is("both in the tree", f.send("POST", "/inside/3", "", token(mine)...), http.StatusNoContent, "")
	f.is("the inner one alone", f.send("POST", "/names/3", "", token(mine)...), http.StatusInternalServerError, "internal")
	f.only("afterwards", "X /dir1")
}
