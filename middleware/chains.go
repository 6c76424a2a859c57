package middleware

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/pathlock-go/pathlock/lockspec"
)

// errInternals is matched when gin's internals differ from those that this package knows.
var errInternals = errors.New("middleware: the handlers of the engine's routes cannot be read: this version of gin is not known to pathlock")

// chainsOf reads the functions of each route's handlers out of an engine, a *gin.Engine. gin's API
// returns only the last one. The others are in its routing trees:
//
//	Engine.trees []struct{ method string; root *node }
//	node struct{ children []*node; handlers []HandlerFunc; fullPath string }
func chainsOf(engine reflect.Value) (map[lockspec.Route][]uintptr, error) {
	trees, err := field(engine, "trees", reflect.Slice)
	if err != nil {
		return nil, err
	}
	chains := make(map[lockspec.Route][]uintptr)
	for i := range trees.Len() {
		method, err := field(trees.Index(i), "method", reflect.String)
		if err != nil {
			return nil, err
		}
		root, err := field(trees.Index(i), "root", reflect.Pointer)
		if err != nil {
			return nil, err
		}
		if err := readNode(chains, method.String(), root); err != nil {
			return nil, err
		}
	}
	return chains, nil
}

// readNode reads the chains of a node of a routing tree, and of all nodes below.
func readNode(chains map[lockspec.Route][]uintptr, method string, node reflect.Value) error {
	handlers, err := field(node, "handlers", reflect.Slice)
	if err != nil {
		return err
	}
	path, err := field(node, "fullPath", reflect.String)
	if err != nil {
		return err
	}
	children, err := field(node, "children", reflect.Slice)
	if err != nil {
		return err
	}
	if handlers.Len() > 0 {
		route := lockspec.Route{Method: method, Path: path.String()}
		for i := range handlers.Len() {
			if handlers.Index(i).Kind() != reflect.Func {
				return fmt.Errorf("%w: a handler is a %s", errInternals, handlers.Index(i).Kind())
			}
			chains[route] = append(chains[route], handlers.Index(i).Pointer())
		}
	}
	for i := range children.Len() {
		if err := readNode(chains, method, children.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// field returns a field of a struct, or of a pointer to one, if it is of the kind.
func field(of reflect.Value, name string, kind reflect.Kind) (reflect.Value, error) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return reflect.Value{}, fmt.Errorf("%w: no struct that has %s", errInternals, name)
	}
	f := of.FieldByName(name)
	if !f.IsValid() || f.Kind() != kind {
		return reflect.Value{}, fmt.Errorf("%w: %s has no %s that is a %s", errInternals, of.Type(), name, kind)
	}
	return f, nil
}
