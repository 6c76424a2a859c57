package middleware_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Who may not do what the request asks for learns no more than that, waits for nobody and keeps
// nobody waiting.
func TestAuthorizationComesBeforeTheLocks(t *testing.T) {
	forbidden := middleware.NewProblem(http.StatusForbidden, "forbidden", "not yours")
	for _, tt := range []struct {
		what      string
		authorize func(c *gin.Context, nodes []lockspec.Node) error
		status    int
	}{
		{"it refuses", func(*gin.Context, []lockspec.Node) error { return forbidden }, http.StatusForbidden},
		{"it answers by itself", func(c *gin.Context, _ []lockspec.Node) error { c.AbortWithStatus(http.StatusForbidden); return nil }, http.StatusForbidden},
		{"it allows", func(*gin.Context, []lockspec.Node) error { return nil }, http.StatusLocked},
		{"it fails", func(*gin.Context, []lockspec.Node) error { return errors.New("no directory") }, http.StatusInternalServerError},
	} {
		t.Run(tt.what, func(t *testing.T) {
			store := &asked{Store: memstore.New()}
			f := newFixture(t, store, middleware.Config{Authorize: tt.authorize, Wait: pathlock.NoWait})
			f.handler = func(*gin.Context) { t.Error("the handler was called") }
			other, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Gate: true})
			if err != nil {
				t.Fatal(err)
			}
			store.times = 0
			if w := f.send("DELETE", "/suites/3", ""); w.Code != tt.status {
				t.Errorf("answer %d, want %d: %s", w.Code, tt.status, w.Body)
			}
			if wanted := tt.status == http.StatusLocked; wanted != (store.times > 0) {
				t.Errorf("the store was asked %d times", store.times)
			}
			if err := other.Release(t.Context()); err != nil {
				t.Error(err)
			}
			f.nothingLeft()
		})
	}
}

// asked is a store that counts what it is asked for.
type asked struct {
	pathlock.Store
	times int
}

func (s *asked) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	s.times++
	return s.Store.Acquire(ctx, a)
}

// A node that turns out to be elsewhere is authorised where it is, asserted or not: the assertion
// knows nothing of permissions.
func TestAuthorizationIsAskedAgainWhereANodeMoved(t *testing.T) {
	t.Run("plain", func(t *testing.T) { checkMovedIsAuthorized(t, newFixture) })
	t.Run("asserted", func(t *testing.T) { checkMovedIsAuthorized(t, newAssertedFixture) })
}

func checkMovedIsAuthorized(t *testing.T, newFixture func(*testing.T, pathlock.Store, middleware.Config) *fixture) {
	t.Helper()
	var seen []string
	f := newFixture(t, memstore.New(), middleware.Config{Authorize: func(_ *gin.Context, nodes []lockspec.Node) error {
		for _, n := range nodes {
			seen = append(seen, n.ID+" "+n.Path.String())
		}
		if strings.HasPrefix(nodes[0].Path.String(), "/other") {
			return middleware.NewProblem(http.StatusForbidden, "forbidden", "not there")
		}
		return nil
	}})
	resolved := 0
	f.nodes.after = func(string) {
		if resolved++; resolved == 1 {
			f.nodes.move("3", "/other/dir2")
		}
	}
	f.handler = func(*gin.Context) { t.Error("the handler was called") }
	if w := f.send("DELETE", "/suites/3", ""); w.Code != http.StatusForbidden {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
	if want := []string{"3 /dir1/dir2", "3 /other/dir2"}; !slices.Equal(seen, want) {
		t.Errorf("asked about %q, want %q", seen, want)
	}
	f.nothingLeft()

	seen = nil
	f.handler = func(c *gin.Context) { c.Status(http.StatusNoContent) }
	f.send("DELETE", "/suites/2", "")
	if want := []string{"2 /dir1"}; !slices.Equal(seen, want) {
		t.Errorf("a node that rests: asked about %q, want %q", seen, want)
	}
}
