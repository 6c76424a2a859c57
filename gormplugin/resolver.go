package gormplugin

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
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
	return r.plugin.catalogue.WithRecall(ctx)
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
			key, results[i].Err = t.ParseKey(id)
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
	for i, found := range t.LocateAll(r.plugin.db.WithContext(ctx), keys) {
		for _, number := range numbers[keys[i]] {
			results[number] = found
		}
	}
	return results
}

// table returns the model's table.
func (r resolver) table() (*table.Table, error) {
	if r.plugin.db == nil {
		return nil, fmt.Errorf("gormplugin: the plugin is not in use by a DB yet")
	}
	return r.plugin.catalogue.TableFor(r.model)
}
