package gormplugin

import (
	"context"
	"errors"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
)

// Resolver returns a resolver for the middleware, which finds the rows of a registered model or
// leaf by the text form of their primary key. It reads without locks, on the DB that uses the
// plugin, and outside of any transaction. It may be made before [gorm.DB.Use] and used after it.
//
// Its errors match
//
//   - [pathlock.ErrInvalidID] for a text that the key's type cannot hold;
//   - [pathlock.ErrNotFound] for a row that is not there, or deleted, and for a leaf whose parent is;
//   - [ErrDamagedRow] for a row with a path that none can be.
//
// The middleware prepares a context for each request, and the first write of the request does not
// read again what the resolver has read under that context. It is a [pathlock.BatchResolver], which
// reads the rows of several ids by one statement.
func (p *Plugin) Resolver(model any) pathlock.Resolver { return resolver{p, model} }

// resolver finds the rows of a model.
type resolver struct {
	plugin *Plugin
	model  any
}

var _ pathlock.BatchResolver = resolver{}

// Prepare returns a context under which Resolve keeps what it reads. A write under a context that
// was derived from it takes what was kept.
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
	t, err := r.table()
	if err == nil {
		err = t.LearnSpellings(r.plugin.db.WithContext(ctx))
	}
	results := slices.Repeat([]pathlock.Resolution{{Err: err}}, len(ids))
	if err != nil {
		return results
	}
	var keys []any
	var numbers []int
	for i, id := range ids {
		var key any
		if key, results[i].Err = t.ParseKey(id); results[i].Err == nil {
			keys, numbers = append(keys, key), append(numbers, i)
		}
	}
	if len(keys) == 0 {
		return results
	}
	for i, found := range t.LocateAll(r.plugin.db.WithContext(ctx), keys) {
		results[numbers[i]] = found
	}
	return results
}

// table returns the model's table.
func (r resolver) table() (*table.Table, error) {
	if r.plugin.db == nil {
		return nil, errors.New("gormplugin: the plugin is not in use by a DB yet")
	}
	return r.plugin.catalogue.TableFor(r.model)
}
