package gormplugin

import (
	"context"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Resolver returns a resolver for the middleware, which finds the rows of a registered model or
// leaf by the text form of their primary key. It reads without locks, on the DB that uses the
// plugin, and outside of any transaction. It may be made before [gorm.DB.Use] and asked at any
// time: until Use, the error states [pathlock.FailureDatabase], which the middleware answers by
// 503.
//
// A key whose type writes bytes needs a method UnmarshalText: otherwise, each look-up is an error.
//
// Its errors match
//
//   - [pathlock.ErrInvalidID] for a text that the key's type cannot hold;
//   - [pathlock.ErrNotFound] for a row that is not there, or deleted, and for a leaf whose parent is;
//   - [ErrDamagedRow] for a row whose path no row can have.
//
// The middleware prepares a context for each request, and the first write of the request does not
// read again what the resolver has read under that context. It is a [pathlock.BatchResolver], which
// reads the rows of several ids by one statement.
func (p *Plugin) Resolver(model any) pathlock.Resolver { return &resolver{plugin: p, model: model} }

// ResolverBy returns a [Plugin.Resolver] that finds live rows by another column than the key, which
// is named by its field or by its own name: an alias in the URL, or the path of names. It reads
// them by one statement, as they are spelled in the database, byte by byte.
//
// Each value must occur in only one live row. A unique index ensures that: [AutoMigrate] makes it
// and [Verify] looks for it if they are called after ResolverBy. A value that two rows share is an
// error.
//
// With tree, a function that returns what the tree column holds, such as the id of the signed-in
// user, it finds rows of that tree alone, and the unique index is over the tree and the column. It
// is called for each look-up, with the context of the request: see middleware.GinContext. Its error
// is that of the resolver.
//
// For the path column, the id in the request is the text of a path: names with the separator of the
// column's form between them, and perhaps at either end, as in "a/b/". That needs tree, unless the
// model is a [SingleTree]. "" and the separator are the top of the tree. The error matches
// [pathlock.ErrInvalidID] for a path that no row can have, and [pathlock.ErrNotFound] for one that
// no row has. It finds the row with this path, even if the column holds the path of the parent: a
// folder that requests name by "a/b/", and not its contents.
//
//	plugin.ResolverBy(&Folder{}, "alias")
//	plugin.ResolverBy(&Folder{}, "path", func(ctx context.Context) (any, error) { return userOf(ctx) })
//
// If rows cannot be found by the column, [gorm.DB.Use] returns an error or, if it was called
// before, each look-up does.
func (p *Plugin) ResolverBy(model any, column string, tree ...func(ctx context.Context) (any, error)) pathlock.Resolver {
	r := &resolver{plugin: p, model: model, column: column, inTree: len(tree) > 0}
	if len(tree) > 0 {
		r.tree = tree[0]
	}
	p.lookups = append(p.lookups, r)
	return r
}

// resolver finds the rows of a model, by their keys unless it has a column.
type resolver struct {
	plugin *Plugin
	model  any
	column string
	// inTree is set if rows of one tree are found, and tree then returns that of a request.
	inTree bool
	tree   func(context.Context) (any, error)
}

var (
	_ pathlock.BatchResolver    = (*resolver)(nil)
	_ pathlock.FailureExplainer = (*resolver)(nil)
)

// LocksBy reports whether the plugin's writes take their locks by a locker: the middleware asks.
func (r *resolver) LocksBy(locker *pathlock.Locker) bool { return r.plugin.settings.Locker == locker }

// Prepare returns a context under which Resolve keeps what it reads. A write under a context that
// was derived from it takes what was kept, and notices by its assertion what is outdated.
func (r *resolver) Prepare(ctx context.Context) context.Context {
	if p := r.plugin.use.Load(); p.db.Load() != nil && p.Asserts {
		return p.WithRecall(ctx)
	}
	return ctx
}

// Resolve implements [pathlock.Resolver].
func (r *resolver) Resolve(ctx context.Context, id string) (pathlock.Location, error) {
	found := r.ResolveAll(ctx, []string{id})[0]
	return found.Location, found.Err
}

// FailureOf implements [pathlock.FailureExplainer].
func (r *resolver) FailureOf(err error) pathlock.Failure { return r.plugin.FailureOf(err) }

// ResolveAll implements [pathlock.BatchResolver].
func (r *resolver) ResolveAll(ctx context.Context, ids []string) []pathlock.Resolution {
	p := r.plugin.use.Load() // once: another DB may begin to use the plugin
	results, err := r.resolveAll(ctx, p, ids)
	if err != nil {
		return slices.Repeat([]pathlock.Resolution{{Err: err}}, len(ids))
	}
	d := p.Dialect
	unfit := func(found pathlock.Resolution) bool { return d.Classify(found.Err) == dialect.FailureUnfit }
	if len(ids) > 1 && slices.ContainsFunc(results, unfit) {
		// One that the column cannot hold has failed the look-up of all.
		for i, id := range ids {
			results[i].Location, results[i].Err = r.Resolve(ctx, id)
		}
	}
	return results
}

// errUnused means that a resolver was asked too early.
var errUnused = pathlock.FailureDatabase.New("gormplugin: the plugin is not in use by a DB yet")

// resolveAll does the work of ResolveAll. An error is that of all ids.
func (r *resolver) resolveAll(ctx context.Context, p *inUse, ids []string) ([]pathlock.Resolution, error) {
	db := p.db.Load()
	if db == nil {
		return nil, errUnused
	}
	db = db.WithContext(ctx)
	l, err := r.lookup(p)
	if err == nil {
		err = l.LearnSpellings(db)
	}
	if err != nil {
		return nil, err
	}
	var tree any
	if r.inTree {
		if tree, err = r.tree(ctx); err != nil {
			return nil, err
		}
	}
	return l.Resolve(db, tree, ids), nil
}

// lookup returns how the rows are found by the column.
func (r *resolver) lookup(p *inUse) (table.Lookup, error) {
	t, err := p.TableFor(r.model)
	if err != nil {
		return table.Lookup{}, err
	}
	if r.inTree && r.tree == nil {
		return table.Lookup{}, fmt.Errorf("gormplugin: %T by %q: the function that returns the tree is nil", r.model, r.column)
	}
	return t.LookupBy(r.column, r.inTree)
}
