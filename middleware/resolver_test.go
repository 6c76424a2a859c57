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
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// batches is a resolver of several ids at once that notes what it is asked together.
type batches struct {
	nodes
	asked []string
}

func (b *batches) Resolve(ctx context.Context, id string) (pathlock.Location, error) {
	b.asked = append(b.asked, id)
	return b.nodes.Resolve(ctx, id)
}

// ResolveAll answers for one id too few if the first is 4.
func (b *batches) ResolveAll(ctx context.Context, ids []string) []pathlock.Resolution {
	b.asked = append(b.asked, strings.Join(ids, "+"))
	var all []pathlock.Resolution
	for _, id := range ids {
		at, err := b.nodes.Resolve(ctx, id)
		all = append(all, pathlock.Resolution{Location: at, Err: err})
	}
	if ids[0] == "4" {
		return all[1:]
	}
	return all
}

// The ids of a request are resolved together if the resolver can, and the request is answered as if
// they had been resolved one after the other.
func TestResolver_resolvesIDsOfOneKindTogether(t *testing.T) {
	id, parent := lockspec.Param("id"), lockspec.Query("parent")
	move := lockspec.Move(id, parent)
	for _, tt := range []struct {
		request string
		spec    lockspec.Spec
		// asked is what the resolver is asked for, fails what the failure says.
		asked []string
		fails string
	}{
		{request: "/1?parent=2", spec: move.Asserted(), asked: []string{"1+2"}},
		{request: "/1?parent=2", spec: move, asked: []string{"1+2", "1+2"}},
		{request: "/1?parent=1", spec: lockspec.Copy(id, parent).Asserted(), asked: []string{"1"}},
		{request: "/1?parent=2", spec: lockspec.Move(id.Kind("other"), parent).Asserted(), asked: []string{"1", "2"}},
		{request: "/1?parent=2", spec: lockspec.Move(id.Kind("plain"), parent.Kind("plain"))},
		{request: "/1?parent=9", spec: move, asked: []string{"1+9"}, fails: "query parent: pathlock: not found: suite 9"},
		{request: "/4?parent=2", spec: move, asked: []string{"4+2"}, fails: "2 ids and answered for 1"},
	} {
		resolver := &batches{nodes: nodes{paths: map[string]string{"1": "/a", "2": "/b"}}}
		var failure error
		locks := middleware.New(pathlock.New(memstore.New()), resolver, middleware.Config{
			Resolvers: map[string]pathlock.Resolver{"other": resolver, "plain": &resolver.nodes},
			OnError:   func(_ *gin.Context, err error) { failure = err },
		})
		f, served := &fixture{T: t, engine: gin.New()}, false
		f.engine.POST("/:id", locks.Lock(tt.spec), func(*gin.Context) { served = true })
		f.send(http.MethodPost, tt.request, "")
		if !slices.Equal(resolver.asked, tt.asked) {
			t.Errorf("%s: the resolver was asked for %q, want %q", tt.request, resolver.asked, tt.asked)
		}
		if served != (tt.fails == "") || !served && !strings.Contains(failure.Error(), tt.fails) {
			t.Errorf("%s: served = %t, and it failed with %v", tt.request, served, failure)
		}
	}
}

// A resolver may put something into the request that it gets from GinContext, as a helper that
// remembers the user does: the request keeps its locks.
func TestGinContext_isACopy(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.locks = middleware.New(f.locker, pathlock.ResolverFunc(func(ctx context.Context, _ string) (pathlock.Location, error) {
		c := middleware.GinContext(ctx)
		c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), t, "anna"))
		return pathlock.Location{Tree: plan, Path: pathlock.MustParsePath("/dir")}, nil
	}), middleware.Config{})
	f.engine.DELETE("/folders/:folder", f.locks.Lock(lockspec.Delete(lockspec.Param("folder"))), f.holding("X /dir"))
	f.is("the request", f.send("DELETE", "/folders/1", ""), http.StatusNoContent, "")
	f.nothingLeft()
}

// If a name that may change names the node, the resolver asks who is signed in, and no longer finds
// the node once it has moved.
func TestToken_holdGoesAlongWithNodesNamedByPath(t *testing.T) {
	for _, tt := range []struct {
		renames bool
		held    []string
	}{
		{true, []string{"X /anna/dir", "X /anna/new"}},
		{false, []string{"X /anna/dir"}},
	} {
		f := newFixture(t, memstore.New(), middleware.Config{})
		folders := map[string]bool{"/anna/dir": true}
		f.locks = middleware.New(f.locker, pathlock.ResolverFunc(func(ctx context.Context, id string) (pathlock.Location, error) {
			path := "/" + middleware.GinContext(ctx).GetString("user") + "/" + id
			if !folders[path] {
				return pathlock.Location{}, pathlock.ErrNotFound
			}
			return pathlock.Location{Tree: plan, Path: pathlock.MustParsePath(path)}, nil
		}), middleware.Config{Wait: pathlock.NoWait})
		signIn := func(c *gin.Context) { c.Set("user", "anna") }
		rename := lockspec.Rename(lockspec.Param("folder"), lockspec.JSON("name"))
		f.engine.PATCH("/folders/:folder", signIn, f.locks.Lock(rename), func(c *gin.Context) {
			if tt.renames {
				delete(folders, "/anna/dir")
				folders["/anna/new"] = true
			}
			c.Status(http.StatusNoContent)
		})
		mine := f.detached(plan, "/anna/dir")
		f.is("the rename", f.send("PATCH", "/folders/dir", `{"name":"new"}`, middleware.TokenHeader, string(mine)), http.StatusNoContent, "")
		if held := f.held(); !slices.Equal(held, tt.held) {
			t.Errorf("renamed: %t: held %q, want %q", tt.renames, held, tt.held)
		}
		f.end(mine)
		f.nothingLeft()
	}
}

func TestLock_panicsOnSpecsThatCannotWork(t *testing.T) {
	id, some := lockspec.Param("id"), &nodes{}
	for what, tt := range map[string]struct {
		spec     lockspec.Spec
		resolver pathlock.Resolver
		config   middleware.Config
		options  []pathlock.Option
	}{
		"it is empty":                        {resolver: some},
		`no resolver for the kind "case"`:    {spec: lockspec.Delete(id.Kind("case")), resolver: some},
		"without a kind: insert":             {spec: lockspec.Insert(lockspec.JSON("parent"), lockspec.JSON("name"))},
		"another locker":                     {spec: lockspec.Delete(id), resolver: gormplugin.New(pathlock.New(memstore.New())).Resolver(&nodes{})},
		"Config.Lease (1ms) must be at":      {spec: lockspec.Delete(id), resolver: some, config: middleware.Config{Lease: time.Millisecond}},
		"MaxBody (-1) not negative":          {spec: lockspec.Delete(id), resolver: some, config: middleware.Config{MaxBody: -1}},
		"Wait (-2s) not negative":            {spec: lockspec.Delete(id), resolver: some, config: middleware.Config{Wait: -2 * time.Second}},
		"lease 1ms, at least 10ms is needed": {spec: lockspec.Delete(id), resolver: some, options: []pathlock.Option{pathlock.WithLease(time.Millisecond)}},
		"":                                   {spec: lockspec.Delete(id), resolver: some, config: middleware.Config{Lease: pathlock.MinLease, Wait: pathlock.NoWait}},
		" ":                                  {spec: lockspec.Insert(lockspec.JSON("parent").OrTop(id.Kind("case")).Kind("case"), lockspec.JSON("name")), config: middleware.Config{Resolvers: map[string]pathlock.Resolver{"case": some}}},
	} {
		said := ""
		func() {
			defer func() {
				if p := recover(); p != nil {
					said = fmt.Sprint(p)
				}
			}()
			middleware.New(pathlock.New(memstore.New(), tt.options...), tt.resolver, tt.config).Lock(tt.spec)
		}()
		if want := strings.TrimSpace(what); !strings.Contains(said, want) || want == "" && said != "" {
			t.Errorf("Lock says %q, want %q", said, want)
		}
	}
}
