package gormplugin

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
	"gorm.io/gorm"
)

// Resolver finds the rows of a registered model, or leaf, by the text form of their primary key:
// for the middleware. It reads without locks, on the DB that the plugin is used by and outside of
// any transaction; it may be made before [gorm.DB.Use] and used after it.
//
// A text that the key's type cannot hold gives an error that matches [pathlock.ErrInvalidID]; a row
// that is not there, or deleted, or a leaf whose parent is, one that matches
// [pathlock.ErrNotFound].
//
// It is a [pathlock.PreparedResolver]: what it reads under a prepared context, which the middleware
// makes for each request, the first write of the request does not read again. It is a
// [pathlock.BatchResolver] as well, which reads the rows of several ids by one statement.
func (p *Plugin) Resolver(model any) pathlock.Resolver { return resolver{p, model} }

// resolver finds the rows of a model.
type resolver struct {
	plugin *Plugin
	model  any
}

var (
	_ pathlock.PreparedResolver = resolver{}
	_ pathlock.BatchResolver    = resolver{}
)

// Prepare implements [pathlock.PreparedResolver].
func (r resolver) Prepare(ctx context.Context) context.Context {
	return r.plugin.catalogue.withRecall(ctx)
}

// Resolve implements [pathlock.Resolver].
func (r resolver) Resolve(ctx context.Context, id string) (pathlock.Location, error) {
	found := r.ResolveAll(ctx, []string{id})[0]
	return found.Location, found.Err
}

// ResolveAll implements [pathlock.BatchResolver].
func (r resolver) ResolveAll(ctx context.Context, ids []string) []pathlock.Resolution {
	results := make([]pathlock.Resolution, len(ids))
	t, err := r.table()
	var keys []any
	numbers := make(map[any][]int, len(ids))
	for i, id := range ids {
		var key any
		if err == nil {
			key, results[i].Err = t.parseKey(id)
		} else {
			results[i].Err = err
		}
		if results[i].Err != nil {
			continue
		}
		if numbers[key] == nil {
			keys = append(keys, key)
		}
		numbers[key] = append(numbers[key], i)
	}
	if len(keys) == 0 {
		return results
	}
	for i, found := range t.locateAll(r.plugin.db.WithContext(ctx), keys) {
		for _, number := range numbers[keys[i]] {
			results[number] = found
		}
	}
	return results
}

// table returns the model's table.
func (r resolver) table() (*table, error) {
	if r.plugin.db == nil {
		return nil, fmt.Errorf("gormplugin: the plugin is not in use by a DB yet")
	}
	return r.plugin.catalogue.tableFor(r.model)
}

// locate returns where the live row with the id is.
func (t *table) locate(db *gorm.DB, id any) (pathlock.Location, error) {
	found := t.locateAll(db, []any{id})[0]
	return found.Location, found.Err
}

// locateAll returns where the live rows with the ids are.
func (t *table) locateAll(db *gorm.DB, ids []any) []pathlock.Resolution {
	results := make([]pathlock.Resolution, len(ids))
	fail := func(err error) []pathlock.Resolution {
		for i := range results {
			results[i] = pathlock.Resolution{Err: err}
		}
		return results
	}
	var rows, above map[any]*node
	var err error
	if t.isLeaf() {
		if rows, err = t.byID(db, ids, ""); err != nil {
			return fail(err)
		}
		t.remember(db.Statement.Context, slices.Collect(maps.Values(rows))...)
		parents := make(map[any]bool, len(rows))
		for _, n := range rows {
			parents[n.parent] = true
		}
		if len(parents) > 0 {
			above, err = t.above.withAbove(db, slices.Collect(maps.Keys(parents)))
		}
	} else {
		rows, err = t.withAbove(db, ids)
	}
	if err != nil {
		return fail(err)
	}
	for i, id := range ids {
		results[i].Location, results[i].Err = t.located(id, rows[id], above)
	}
	return results
}

// located returns where a row is: n, nil if there is none. above has the parents of leaves.
func (t *table) located(id any, n *node, above map[any]*node) (pathlock.Location, error) {
	if n == nil {
		return pathlock.Location{}, t.missing(id)
	}
	if !t.isLeaf() {
		return t.location(n)
	}
	parent := above[n.parent]
	if parent == nil {
		return pathlock.Location{}, fmt.Errorf("the parent of %s: %w", t.row(id), t.above.missing(n.parent))
	}
	location, err := t.above.location(parent)
	if err != nil {
		return pathlock.Location{}, err
	}
	location.Path, err = location.Path.Child(n.name)
	return location, err
}

// withAbove returns the live rows with the ids, and, in a request whose write will want to know
// them, all live rows above.
func (t *table) withAbove(db *gorm.DB, ids []any) (map[any]*node, error) {
	if db.Statement.Context.Value(t.recall) == nil {
		return t.byID(db, ids, "")
	}
	rows, err := t.climb(db, ids)
	if err == nil {
		t.remember(db.Statement.Context, slices.Collect(maps.Values(rows))...)
	}
	return rows, err
}

// missing says that there is no live row with an id.
func (t *table) missing(id any) error {
	return fmt.Errorf("%w: %s", pathlock.ErrNotFound, t.row(id))
}

// location says where a row with a path is.
func (t *table) location(n *node) (pathlock.Location, error) {
	tree, err := t.treeOf(n.tree)
	if err != nil {
		return pathlock.Location{}, err
	}
	path, err := pathlock.ParsePath(n.path)
	if err != nil {
		return pathlock.Location{}, fmt.Errorf("%s: %w", t.row(n.id), err)
	}
	return pathlock.Location{Tree: tree, Path: path}, nil
}

// parseKey reads the text form of a primary key, as the key's type does it.
func (t *table) parseKey(text string) (any, error) {
	invalid := func(err error) error {
		if number, ok := errors.AsType[*strconv.NumError](err); ok {
			err = number.Err
		}
		return fmt.Errorf("%w: %s: %q: %w", pathlock.ErrInvalidID, t.name, shown.Cut(text), err)
	}
	target := reflect.New(t.key.IndirectFieldType)
	if u, ok := target.Interface().(encoding.TextUnmarshaler); ok {
		if err := u.UnmarshalText([]byte(text)); err != nil {
			return nil, invalid(err)
		}
		return plain(target.Elem().Interface())
	}
	switch bits := target.Elem().Type(); bits.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, bits.Bits())
		if err != nil {
			return nil, invalid(err)
		}
		return n, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, bits.Bits())
		if err != nil {
			return nil, invalid(err)
		}
		return plain(n)
	case reflect.String:
		if text == "" || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil, invalid(fmt.Errorf("not a text"))
		}
		return text, nil
	default:
		return nil, invalid(fmt.Errorf("a %v has no text form", bits))
	}
}
