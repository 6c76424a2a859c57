package middleware

import (
	"context"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// plan returns what the spec means for the request at the moment, if Authorize allows it.
func (v *visit) plan(ctx context.Context, attempt int) (lockspec.Binding, error) {
	bound, err := v.bindInStep(ctx, attempt)
	if err != nil {
		return lockspec.Binding{}, err
	}
	if v.config.Authorize == nil || v.asked && slices.Equal(v.authorized, bound.Nodes) {
		return bound, nil
	}
	v.asked, v.authorized = true, bound.Nodes
	if err := v.config.Authorize(v.c, slices.Clone(bound.Nodes)); err != nil {
		return lockspec.Binding{}, err
	}
	if v.c.IsAborted() {
		return lockspec.Binding{}, nil // it has answered the request itself
	}
	return bound, nil
}

// bindInStep is bind as a step that observers see.
func (v *visit) bindInStep(ctx context.Context, attempt int) (bound lockspec.Binding, err error) {
	work, done := v.locker.Step(ctx, pathlock.Step{Kind: pathlock.StepResolve, Attempt: attempt})
	err = errPanicked
	defer func() { done(err) }()
	bound, err = v.bind(work)
	return bound, err
}

// bind returns what the spec means for the request at the moment.
func (v *visit) bind(ctx context.Context) (lockspec.Binding, error) {
	if v.batches && v.ids == nil {
		var err error
		v.values.rewind()
		if v.ids, err = v.spec.IDs(v.values.get); err != nil {
			return lockspec.Binding{}, err
		}
	}
	v.values.rewind()
	return v.spec.Bind(v.values.get, v.resolve(ctx, v.ids))
}

// resolve returns the [lockspec.Resolve] of one request. If the resolver of a kind finds several
// ids at once, the first id of the kind brings the others with it.
func (m *Locks) resolve(ctx context.Context, ids []lockspec.ID) lockspec.Resolve {
	one := func(kind, id string) (pathlock.Location, error) {
		if r := m.resolvers[kind]; r != nil {
			return r.Resolve(ctx, id)
		}
		return pathlock.Location{}, fmt.Errorf("middleware: there is no resolver for the kind %q", kind)
	}
	if len(ids) < 2 {
		return one
	}
	found := make(map[lockspec.ID]pathlock.Resolution, len(ids))
	return func(kind, id string) (pathlock.Location, error) {
		if x, ok := found[lockspec.ID{Kind: kind, ID: id}]; ok {
			return x.Location, x.Err
		}
		several, ok := m.resolvers[kind].(pathlock.BatchResolver)
		var alike []string
		for _, other := range ids {
			if other.Kind == kind {
				alike = append(alike, other.ID)
			}
		}
		if !ok || len(alike) < 2 {
			return one(kind, id)
		}
		all := several.ResolveAll(ctx, alike)
		if len(all) != len(alike) {
			return pathlock.Location{}, fmt.Errorf("middleware: the resolver for the kind %q was asked for %d ids and answered for %d", kind, len(alike), len(all))
		}
		for i, x := range all {
			found[lockspec.ID{Kind: kind, ID: alike[i]}] = x
		}
		x := found[lockspec.ID{Kind: kind, ID: id}]
		return x.Location, x.Err
	}
}
