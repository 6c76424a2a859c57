package middleware_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// counted is a store that counts grants and releases.
type counted struct {
	pathlock.Store
	granted, released int
}

func (s *counted) Local() bool { return true }

func (s *counted) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	g, err := s.Store.Acquire(ctx, a)
	if err == nil {
		s.granted++
	}
	return g, err
}

func (s *counted) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	err := s.Store.Release(ctx, tree, owner, id)
	if err == nil {
		s.released++
	}
	return err
}

// Whatever panics around the handler, what was granted is given back, once.
func TestPanicsLeaveNothingLocked(t *testing.T) {
	for _, tt := range []struct {
		what    string
		granted int
		request string
		at      func(f *fixture, config *middleware.Config)
	}{
		{"a resolver, before the locks", 0, "DELETE /suites/3", func(f *fixture, _ *middleware.Config) {
			f.nodes.after = func(string) { panic("in the resolver") }
		}},
		{"a resolver, at the second look", 1, "DELETE /suites/3", func(f *fixture, _ *middleware.Config) {
			looks := 0
			f.nodes.after = func(string) {
				if looks++; looks == 2 {
					panic("in the resolver")
				}
			}
		}},
		{"a resolver, at the third look", 2, "DELETE /suites/3", func(f *fixture, _ *middleware.Config) {
			looks := 0
			f.nodes.after = func(string) {
				if looks++; looks == 3 {
					panic("in the resolver")
				}
				f.nodes.move("3", "/other/dir2")
			}
		}},
		{"Authorize", 0, "DELETE /suites/3", func(_ *fixture, config *middleware.Config) {
			config.Authorize = func(*gin.Context, []lockspec.Node) error { panic("in Authorize") }
		}},
		{"Authorize, at the second look", 1, "DELETE /suites/3", func(f *fixture, config *middleware.Config) {
			f.nodes.after = func(string) { f.nodes.move("3", "/other/dir2") }
			asked := 0
			config.Authorize = func(*gin.Context, []lockspec.Node) error {
				if asked++; asked == 2 {
					panic("in Authorize")
				}
				return nil
			}
		}},
		{"OnError", 1, "DELETE /suites/3", func(f *fixture, config *middleware.Config) {
			f.nodes.after = func(id string) { f.nodes.move(id, "") }
			config.OnError = func(*gin.Context, error) { panic("in OnError") }
		}},
		{"the handler", 1, "DELETE /suites/3", func(f *fixture, _ *middleware.Config) {
			f.handler = func(*gin.Context) { panic("in the handler") }
		}},
		{"the handler, with no request left", 1, "DELETE /suites/3", func(f *fixture, _ *middleware.Config) {
			f.handler = func(c *gin.Context) {
				c.Request = nil
				panic(http.ErrAbortHandler)
			}
		}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			store := &counted{Store: memstore.New()}
			config := middleware.Config{}
			// What the case sets of the configuration has to be known when the routes are made.
			tt.at(&fixture{T: t, nodes: new(nodes)}, &config)
			f := newFixture(t, store, config)
			tt.at(f, &config)
			method, path, _ := strings.Cut(tt.request, " ")
			panicked := false
			func() {
				defer func() { panicked = recover() != nil }()
				f.send(method, path, "")
			}()
			if !panicked {
				t.Error("the panic was swallowed, or did not happen")
			}
			if store.granted != tt.granted || store.released != store.granted {
				t.Errorf("%d grants were made, want %d, and %d given back", store.granted, tt.granted, store.released)
			}
			f.nothingLeft()
		})
	}
}

// A lock that is lost while the nodes are looked at again is told as such, whatever the resolver
// says of it; so is the reason for which the request's own context has ended.
func TestWhatEndedALookIsTold(t *testing.T) {
	enough := middleware.NewProblem(http.StatusServiceUnavailable, "enough", "enough")
	for _, tt := range []struct {
		what string
		end  func(f *fixture, leave context.CancelCauseFunc)
		kind string
	}{
		{"the lock is lost", func(f *fixture, _ context.CancelCauseFunc) {
			snapshot, err := f.locker.Snapshot(context.Background(), plan)
			if err != nil || len(snapshot.Holders) != 1 {
				f.Fatalf("holders: %v, %v", snapshot.Holders, err)
			}
			if err := f.locker.ForceRelease(context.Background(), plan, snapshot.Holders[0].Owner); err != nil {
				f.Error(err)
			}
		}, "lock-store-unavailable"},
		{"the request ends for a reason", func(_ *fixture, leave context.CancelCauseFunc) { leave(enough) }, "enough"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			f := newFixture(t, memstore.New(), middleware.Config{})
			f.handler = func(*gin.Context) { t.Error("the handler was called") }
			ctx, leave := context.WithCancelCause(t.Context())
			defer leave(nil)
			looks := 0
			driver := errors.New("driver: bad connection")
			resolver := pathlock.ResolverFunc(func(ctx context.Context, id string) (pathlock.Location, error) {
				if looks++; looks == 2 {
					tt.end(f, leave)
					<-ctx.Done()
					return pathlock.Location{}, driver
				}
				return f.nodes.Resolve(ctx, id)
			})
			locks := middleware.New(f.locker, resolver, middleware.Config{})
			f.engine.DELETE("/looked/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), func(c *gin.Context) { f.handler(c) })
			w := httptest.NewRecorder()
			f.engine.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodDelete, "/looked/3", nil))
			if kind, _ := f.problem(w)["type"].(string); w.Code != http.StatusServiceUnavailable || !strings.HasSuffix(kind, ":"+tt.kind) {
				t.Errorf("answer %d: %s", w.Code, w.Body)
			}
			f.nothingLeft()
		})
	}
}
