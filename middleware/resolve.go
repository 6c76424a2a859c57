package middleware

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// resolve returns what resolves the ids of one request. The first id of a kind that is asked for
// brings the others of the kind with it, where the kind's resolver can find several at once.
func (m *Locks) resolve(ctx context.Context, ids []lockspec.ID) lockspec.Resolve {
	var found map[lockspec.ID]pathlock.Resolution
	return func(kind, id string) (pathlock.Location, error) {
		if x, ok := found[lockspec.ID{Kind: kind, ID: id}]; ok {
			return x.Location, x.Err
		}
		r := m.resolvers[kind]
		if r == nil {
			return pathlock.Location{}, fmt.Errorf("middleware: there is no resolver for the kind %q", kind)
		}
		several, ok := r.(pathlock.BatchResolver)
		if !ok {
			return r.Resolve(ctx, id)
		}
		alike := ofKind(ids, kind)
		if len(alike) < 2 {
			return r.Resolve(ctx, id)
		}
		all := several.ResolveAll(ctx, alike)
		if len(all) != len(alike) {
			return pathlock.Location{}, fmt.Errorf("middleware: the resolver for the kind %q was asked for %d ids and answered for %d", kind, len(alike), len(all))
		}
		if found == nil {
			found = make(map[lockspec.ID]pathlock.Resolution, len(ids))
		}
		for i, x := range all {
			found[lockspec.ID{Kind: kind, ID: alike[i]}] = x
		}
		x := found[lockspec.ID{Kind: kind, ID: id}]
		return x.Location, x.Err
	}
}

// ofKind returns those of ids that are of a kind.
func ofKind(ids []lockspec.ID, kind string) (alike []string) {
	for _, id := range ids {
		if id.Kind == kind {
			alike = append(alike, id.ID)
		}
	}
	return alike
}
