package middleware_test

import (
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
func TestAuthorize_comesBeforeTheLocks(t *testing.T) {
	for _, tt := range []struct {
		what      string
		authorize func(c *gin.Context, nodes []lockspec.Node) error
		status    int
	}{
		{"it refuses", func(*gin.Context, []lockspec.Node) error { return middleware.NewProblem(403, "forbidden", "not yours") }, 403},
		{"it answers by itself", func(c *gin.Context, _ []lockspec.Node) error { c.AbortWithStatus(http.StatusTeapot); return nil }, 418},
		{"it allows", func(*gin.Context, []lockspec.Node) error { return nil }, 423},
		{"it fails", func(*gin.Context, []lockspec.Node) error { return errors.New("no directory") }, 500},
	} {
		store := &spy{Store: memstore.New()}
		f := newFixture(t, store, middleware.Config{Authorize: tt.authorize, Wait: pathlock.NoWait})
		f.handler = f.mustNotServe
		other := f.acquire("/")
		f.is(tt.what, f.send("DELETE", "/suites/3", ""), tt.status, "")
		if wanted := tt.status == http.StatusLocked; wanted != (len(store.asked) > 1) {
			t.Errorf("%s: the store was asked for %+v", tt.what, store.asked)
		}
		f.release(other)
		f.nothingLeft()
	}
}

// A node that turns out to be elsewhere is authorised where it is, asserted or not: the assertion
// knows nothing of permissions. A node that rests is not asked about again.
func TestAuthorize_isAskedAgainWhereANodeMoved(t *testing.T) {
	for what, vary := range map[string]func(lockspec.Spec) lockspec.Spec{
		"plain": lockspec.Spec.ParentExclusive, "asserted": lockspec.Spec.Asserted,
	} {
		var seen []string
		f := newFixture(t, memstore.New(), middleware.Config{Authorize: func(_ *gin.Context, nodes []lockspec.Node) error {
			seen = append(seen, nodes[0].ID+" "+nodes[0].Path.String())
			if strings.HasPrefix(nodes[0].Path.String(), "/other") {
				return middleware.NewProblem(http.StatusForbidden, "forbidden", "not there")
			}
			return nil
		}}, vary)
		f.is(what, f.send("DELETE", "/suites/2", ""), http.StatusNoContent, "")
		f.nodes.looks, f.nodes.after = 0, f.nodes.movesOnce
		f.handler = f.mustNotServe
		f.is(what, f.send("DELETE", "/suites/3", ""), http.StatusForbidden, "forbidden")
		if want := []string{"2 /dir1", "3 /dir1/dir2", "3 /other/dir2"}; !slices.Equal(seen, want) {
			t.Errorf("%s: asked about %q, want %q", what, seen, want)
		}
		f.nothingLeft()
	}
}
