package gormplugin

import (
	"context"
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
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
// makes for each request, the first write of the request does not read again.
func (p *Plugin) Resolver(model any) pathlock.Resolver { return resolver{p, model} }

// resolver finds the rows of a model.
type resolver struct {
	plugin *Plugin
	model  any
}

var _ pathlock.PreparedResolver = resolver{}

// Prepare implements [pathlock.PreparedResolver].
func (r resolver) Prepare(ctx context.Context) context.Context { return r.plugin.withRecall(ctx) }

// Resolve implements [pathlock.Resolver].
func (r resolver) Resolve(ctx context.Context, id string) (pathlock.Location, error) {
	p := r.plugin
	if p.db == nil {
		return pathlock.Location{}, fmt.Errorf("gormplugin: the plugin is not in use by a DB yet")
	}
	t, err := p.tableFor(r.model)
	if err != nil {
		return pathlock.Location{}, err
	}
	key, err := t.parseKey(id)
	if err != nil {
		return pathlock.Location{}, err
	}
	return t.locate(p.db.WithContext(ctx), key)
}

// locate returns where the live row with the id is.
func (t *table) locate(db *gorm.DB, id any) (pathlock.Location, error) {
	if !t.isLeaf() {
		n, err := t.findWithAbove(db, id)
		if err != nil {
			return pathlock.Location{}, err
		}
		return t.location(n)
	}
	n, err := t.find(db, id)
	if err != nil {
		return pathlock.Location{}, err
	}
	t.remember(db.Statement.Context, n)
	above, err := t.above.findWithAbove(db, n.parent)
	if err != nil {
		return pathlock.Location{}, fmt.Errorf("the parent of %s %v: %w", t.name, id, err)
	}
	location, err := t.above.location(above)
	if err != nil {
		return pathlock.Location{}, err
	}
	location.Path, err = location.Path.Child(n.name)
	return location, err
}

// findWithAbove is find, for a request whose write will want to know what is above the row.
func (t *table) findWithAbove(db *gorm.DB, id any) (*node, error) {
	if db.Statement.Context.Value(recallKey{t.plugin.locker}) == nil {
		return t.find(db, id)
	}
	rows, err := t.climb(db, []any{id})
	if err != nil {
		return nil, err
	}
	n := rows[id]
	if n == nil {
		return nil, t.missing(id)
	}
	t.remember(db.Statement.Context, slices.Collect(maps.Values(rows))...)
	return n, nil
}

// find returns the live row with the id.
func (t *table) find(db *gorm.DB, id any) (*node, error) {
	found, err := t.byID(db, []any{id}, "")
	if err != nil {
		return nil, err
	}
	if n := found[id]; n != nil {
		return n, nil
	}
	return nil, t.missing(id)
}

// missing says that there is no live row with an id.
func (t *table) missing(id any) error {
	return fmt.Errorf("%w: %s %v", pathlock.ErrNotFound, t.name, id)
}

// location says where a row with a path is.
func (t *table) location(n *node) (pathlock.Location, error) {
	tree, err := t.treeOf(n.tree)
	if err != nil {
		return pathlock.Location{}, err
	}
	path, err := pathlock.ParsePath(n.path)
	if err != nil {
		return pathlock.Location{}, fmt.Errorf("%s %v: %w", t.name, n.id, err)
	}
	return pathlock.Location{Tree: tree, Path: path}, nil
}

// parseKey reads the text form of a primary key, as the key's type does it.
func (t *table) parseKey(text string) (any, error) {
	invalid := func(err error) error {
		return fmt.Errorf("%w: %s: %.80q: %w", pathlock.ErrInvalidID, t.name, text, err)
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
		if text == "" || !utf8.ValidString(text) {
			return nil, invalid(fmt.Errorf("not a text"))
		}
		return text, nil
	default:
		return nil, invalid(fmt.Errorf("a %v has no text form", bits))
	}
}
