package middleware

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
)

// This is what pathlock knows of gin's insides; a new version that keeps its handlers elsewhere
// fails here.
func TestChainsAreReadOutOfGin(t *testing.T) {
	first, second, last := func(*gin.Context) {}, func(*gin.Context) {}, func(*gin.Context) {}
	engine := gin.New()
	engine.Use(first)
	for _, path := range []string{"/", "/suites", "/suites/:id", "/suites/:id/move", "/sub", "/files/*rest"} {
		engine.POST(path, second, last)
		engine.PUT(path, last)
	}
	chains, err := chainsOf(reflect.ValueOf(engine))
	if err != nil {
		t.Fatal(err)
	}
	var all []uintptr
	for _, f := range []gin.HandlerFunc{first, second, last} {
		all = append(all, reflect.ValueOf(f).Pointer())
	}
	for _, r := range engine.Routes() {
		want := all
		if r.Method == http.MethodPut {
			want = []uintptr{all[0], all[2]}
		}
		if got := chains[lockspec.Route{Method: r.Method, Path: r.Path}]; !slices.Equal(got, want) {
			t.Errorf("%s %s: %v, want %v", r.Method, r.Path, got, want)
		}
	}
	if len(chains) != len(engine.Routes()) {
		t.Errorf("%d chains of %d routes", len(chains), len(engine.Routes()))
	}
}

// Where gin is built in another way, that is said, and no route is taken for locked or unlocked.
func TestUnknownInternalsAreAnError(t *testing.T) {
	type node struct {
		handlers []int
		fullPath string //nolint:unused // read by reflection
		children []*node
	}
	type tree struct {
		method string //nolint:unused // read by reflection
		root   *node
	}
	for what, engine := range map[string]any{
		"no trees":       &struct{ routes []int }{},
		"other trees":    &struct{ trees map[string]int }{},
		"no method":      &struct{ trees []struct{ root *node } }{make([]struct{ root *node }, 1)},
		"no root":        &struct{ trees []struct{ method string } }{make([]struct{ method string }, 1)},
		"an empty tree":  &struct{ trees []tree }{make([]tree, 1)},
		"other handlers": &struct{ trees []tree }{[]tree{{root: &node{handlers: []int{1}}}}},
		"another below":  &struct{ trees []tree }{[]tree{{root: &node{children: []*node{{handlers: []int{1}}}}}}},
		"not an engine":  new(int),
		"no engine":      (*gin.Engine)(nil),
		"a node that is no struct": &struct {
			trees []struct {
				method string
				root   *int
			}
		}{make([]struct {
			method string
			root   *int
		}, 1)},
	} {
		if _, err := chainsOf(reflect.ValueOf(engine)); !errors.Is(err, errInternals) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
