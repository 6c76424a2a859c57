package middleware

import (
	"errors"
	"reflect"
	"testing"

	"github.com/gin-gonic/gin"
)

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
