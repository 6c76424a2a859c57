package middleware_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// counted is a store that counts grants and releases, and may panic at a grant.
type counted struct {
	pathlock.Store
	granted, released int
	panics            int // at which call of Acquire; 0 is at none
	calls             int
}

func (s *counted) Local() bool { return true }

func (s *counted) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	if s.calls++; s.calls == s.panics {
		panic("in the store")
	}
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
		at      func(f *fixture, store *counted, config *middleware.Config)
	}{
		{"a resolver, before the locks", 0, "DELETE /suites/3", func(f *fixture, _ *counted, _ *middleware.Config) {
			f.nodes.after = func(string) { panic("in the resolver") }
		}},
		{"a resolver, at the second look", 1, "DELETE /suites/3", func(f *fixture, _ *counted, _ *middleware.Config) {
			looks := 0
			f.nodes.after = func(string) {
				if looks++; looks == 2 {
					panic("in the resolver")
				}
			}
		}},
		{"a resolver, at the third look", 2, "DELETE /suites/3", func(f *fixture, _ *counted, _ *middleware.Config) {
			looks := 0
			f.nodes.after = func(string) {
				if looks++; looks == 3 {
					panic("in the resolver")
				}
				f.nodes.move("3", "/other/dir2")
			}
		}},
		{"the store, between two trees", 1, "PUT /plans/7", func(_ *fixture, store *counted, _ *middleware.Config) { store.panics = 2 }},
		{"the store, at the second try", 1, "DELETE /suites/3", func(f *fixture, store *counted, _ *middleware.Config) {
			store.panics = 2
			f.nodes.after = func(string) { f.nodes.move("3", "/other/dir2") }
		}},
		{"Authorize", 0, "DELETE /suites/3", func(_ *fixture, _ *counted, config *middleware.Config) {
			config.Authorize = func(*gin.Context, []lockspec.Node) error { panic("in Authorize") }
		}},
		{"Authorize, at the second look", 1, "DELETE /suites/3", func(f *fixture, _ *counted, config *middleware.Config) {
			f.nodes.after = func(string) { f.nodes.move("3", "/other/dir2") }
			asked := 0
			config.Authorize = func(*gin.Context, []lockspec.Node) error {
				if asked++; asked == 2 {
					panic("in Authorize")
				}
				return nil
			}
		}},
		{"OnError", 1, "DELETE /suites/3", func(f *fixture, _ *counted, config *middleware.Config) {
			f.nodes.after = func(id string) { f.nodes.move(id, "") }
			config.OnError = func(*gin.Context, error) { panic("in OnError") }
		}},
		{"the handler", 1, "DELETE /suites/3", func(f *fixture, _ *counted, _ *middleware.Config) {
			f.handler = func(*gin.Context) { panic("in the handler") }
		}},
		{"the handler, with no request left", 1, "DELETE /suites/3", func(f *fixture, _ *counted, _ *middleware.Config) {
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
			tt.at(&fixture{T: t, nodes: new(nodes)}, store, &config)
			f := newFixture(t, store, config)
			tt.at(f, store, &config)
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
