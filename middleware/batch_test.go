package middleware_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
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

func (b *batches) ResolveAll(ctx context.Context, ids []string) []pathlock.Resolution {
	b.asked = append(b.asked, strings.Join(ids, "+"))
	var all []pathlock.Resolution
	for _, id := range ids {
		at, err := b.nodes.Resolve(ctx, id)
		all = append(all, pathlock.Resolution{Location: at, Err: err})
	}
	return all
}

// The ids of a request are resolved together where the resolver can, and the request is answered as
// if they had been resolved one after the other.
func TestIDsOfOneKindAreResolvedTogether(t *testing.T) {
	id, parent := lockspec.Param("id"), lockspec.Query("parent")
	move := lockspec.Move(id, parent)
	for _, tt := range []struct {
		what, request string
		spec          lockspec.Spec
		asserted      bool
		// asked is what the resolver is asked for, fails what the failure says.
		asked []string
		fails string
	}{
		{what: "a move", request: "/1?parent=2", spec: move, asserted: true, asked: []string{"1+2"}},
		{what: "a move that is looked at again", request: "/1?parent=2", spec: move, asked: []string{"1+2", "1+2"}},
		{what: "one id twice", request: "/1?parent=1", spec: lockspec.Copy(id, parent), asserted: true, asked: []string{"1"}},
		{what: "ids of two kinds", request: "/1?parent=2", spec: lockspec.Move(id.Kind("other"), parent), asserted: true, asked: []string{"1", "2"}},
		{what: "two ids of a kind that is asked one by one", request: "/1?parent=2", spec: lockspec.Move(id.Kind("plain"), parent.Kind("plain")), asserted: true},
		{what: "a parent that is not there", request: "/1?parent=9", spec: move, asked: []string{"1+9"}, fails: "query parent: pathlock: not found: suite 9"},
		{what: "a parent that cannot be", request: "/1?parent=x", spec: move, asked: []string{"1+x"}, fails: `parent: pathlock: invalid id: "x" is not a number`},
	} {
		t.Run(tt.what, func(t *testing.T) {
			resolver := &batches{nodes: nodes{paths: map[string]string{"1": "/a", "2": "/b"}}}
			var failure error
			locks := middleware.New(pathlock.New(memstore.New()), resolver, middleware.Config{
				Resolvers: map[string]pathlock.Resolver{"other": resolver, "plain": &resolver.nodes},
				OnError:   func(_ *gin.Context, err error) { failure = err },
			})
			spec := tt.spec
			if tt.asserted {
				spec = spec.Asserted()
			}
			engine, served := gin.New(), false
			engine.POST("/:id", locks.Lock(spec), func(*gin.Context) { served = true })
			engine.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, tt.request, nil))
			if !slices.Equal(resolver.asked, tt.asked) {
				t.Errorf("the resolver was asked for %q, want %q", resolver.asked, tt.asked)
			}
			if tt.fails == "" && (failure != nil || !served) {
				t.Errorf("served = %t, and it failed with %v", served, failure)
			}
			if tt.fails != "" && (failure == nil || !strings.HasSuffix(failure.Error(), tt.fails)) {
				t.Errorf("it failed with %v, want %q", failure, tt.fails)
			}
		})
	}
}

// short is a resolver that answers for fewer ids than it was asked for.
type short struct{ batches }

func (s *short) ResolveAll(ctx context.Context, ids []string) []pathlock.Resolution {
	return s.batches.ResolveAll(ctx, ids[:1])
}

func TestResolverHasToAnswerForEveryID(t *testing.T) {
	resolver := &short{batches{nodes: nodes{paths: map[string]string{"1": "/a", "2": "/b"}}}}
	failure := errors.New("none")
	locks := middleware.New(pathlock.New(memstore.New()), resolver, middleware.Config{
		OnError: func(_ *gin.Context, err error) { failure = err },
	})
	engine := gin.New()
	engine.POST("/:id", locks.Lock(lockspec.Move(lockspec.Param("id"), lockspec.Query("parent"))), func(*gin.Context) {
		t.Error("the handler runs though a node is not known")
	})
	engine.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/1?parent=2", nil))
	if !strings.Contains(failure.Error(), "2 ids and answered for 1") {
		t.Errorf("it failed with %v", failure)
	}
}
