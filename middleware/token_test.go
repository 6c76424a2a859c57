package middleware_test

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Where a name that may change names the node, the resolver asks who is signed in, and finds the
// node no more once it has moved.
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
