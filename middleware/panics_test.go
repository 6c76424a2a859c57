package middleware_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Whatever panics around the handler, what was granted is given back, once.
func TestPanic_leavesNothingLocked(t *testing.T) {
	panicAt := func(at int) func(f *fixture) {
		return func(f *fixture) {
			f.nodes.after = func(_ string, looks int) {
				if looks == at {
					panic("in the resolver")
				}
				f.nodes.move("3", "/other/dir2")
			}
		}
	}
	for _, tt := range []struct {
		what    string
		granted int
		config  middleware.Config
		at      func(f *fixture)
	}{
		{"a resolver, before the locks", 0, middleware.Config{}, panicAt(1)},
		{"a resolver, at the second look", 1, middleware.Config{}, panicAt(2)},
		{"a resolver, at the third look", 2, middleware.Config{}, panicAt(3)},
		{"Authorize, where the node moved", 1, middleware.Config{Authorize: func(_ *gin.Context, nodes []lockspec.Node) error {
			if nodes[0].Path.String() == "/other/dir2" {
				panic("in Authorize")
			}
			return nil
		}}, panicAt(4)},
		{"OnError", 1, middleware.Config{OnError: func(*gin.Context, error) { panic("in OnError") }}, func(f *fixture) {
			f.nodes.after = func(id string, _ int) { f.nodes.move(id, "") }
		}},
		{"the handler, with no request left", 1, middleware.Config{}, func(f *fixture) {
			f.handler = func(c *gin.Context) {
				c.Request = nil
				panic(http.ErrAbortHandler)
			}
		}},
	} {
		store := &testlock.Watched{Store: memstore.New()}
		f := newFixture(t, store, tt.config)
		f.handler = f.mustNotServe
		tt.at(f)
		f.is(tt.what, f.send("DELETE", "/suites/3", ""), http.StatusInternalServerError, "")
		f.nothingLeft()
		made := map[string]int{}
		for _, call := range store.Calls() {
			verb, _, _ := strings.Cut(call, " ")
			made[verb]++
		}
		if made["acquire"] != tt.granted || made["release"] != tt.granted {
			t.Errorf("%s: %v, want %d grants, and as many given back", tt.what, made, tt.granted)
		}
	}
}

// A lock that is lost while the nodes are looked at again is told as such, whatever the resolver
// says of it; so is the reason for which the request's own context has ended.
func TestFail_tellsWhatEndedALook(t *testing.T) {
	for _, kind := range []string{"lock-store-unavailable", "enough"} {
		f := newFixture(t, memstore.New(), middleware.Config{})
		ctx, leave := context.WithCancelCause(t.Context())
		defer leave(nil)
		looks := 0
		f.locks = middleware.New(f.locker, pathlock.ResolverFunc(func(ctx context.Context, id string) (pathlock.Location, error) {
			if looks++; looks == 1 {
				return f.nodes.Resolve(ctx, id)
			}
			if kind == "enough" {
				leave(middleware.NewProblem(http.StatusServiceUnavailable, "enough", "enough"))
			} else if err := f.locker.ForceRelease(ctx, plan, f.locker.Scope(ctx).Owner()); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			return pathlock.Location{}, errors.New("driver: bad connection")
		}), middleware.Config{Log: slog.New(slog.DiscardHandler)})
		f.engine.DELETE("/looked/:id", f.locks.Lock(lockspec.Delete(lockspec.Param("id"))), f.mustNotServe)
		f.is(kind, f.sendUnder(ctx, http.MethodDelete, "/looked/3", ""), http.StatusServiceUnavailable, kind)
		f.nothingLeft()
	}
}
