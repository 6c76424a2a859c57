package middleware

import (
	"context"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// plan returns what the spec means for the request at the moment, if Authorize allows it. It
// returns the plan before, which may be zero, unless one of its nodes has moved.
func (v *visit) plan(ctx context.Context, attempt int, before lockspec.Binding) (lockspec.Binding, error) {
	bound, err := v.bindInStep(ctx, attempt, before)
	if err != nil {
		return lockspec.Binding{}, err
	}
	if v.config.Authorize == nil || v.asked && slices.Equal(v.authorized, bound.Nodes) {
		return bound, nil
	}
	v.asked, v.authorized = true, bound.Nodes
	status, size := v.c.Writer.Status(), v.c.Writer.Size()
	err = v.config.Authorize(v.c, slices.Clone(bound.Nodes))
	v.request = v.c.Request
	if err != nil {
		return lockspec.Binding{}, err
	}
	if v.c.Writer.Status() != status || v.c.Writer.Size() != size {
		v.c.Abort() // as whoever refuses by c.JSON or c.Redirect alone means it
	}
	if v.c.IsAborted() {
		return lockspec.Binding{}, nil // it has answered the request itself
	}
	return bound, nil
}

// bindInStep is bind as a step that observers see.
func (v *visit) bindInStep(ctx context.Context, attempt int, before lockspec.Binding) (bound lockspec.Binding, err error) {
	work, done := v.locker.Step(ctx, pathlock.Step{Kind: pathlock.StepResolve, Attempt: attempt})
	err = errPanicked
	defer func() { done(err) }()
	bound, err = v.bind(withGinContext(work, v.c), before)
	return bound, err
}

// bind returns what the spec means for the request at the moment: see plan.
func (v *visit) bind(ctx context.Context, before lockspec.Binding) (lockspec.Binding, error) {
	if len(before.Nodes) == 0 {
		return v.values.Bind(func(nodes []lockspec.Node) []pathlock.Resolution { return v.resolve(ctx, nodes) })
	}
	found := v.resolve(ctx, before.Nodes)
	for i, f := range found {
		if f.Err != nil || f.Location != before.Nodes[i].Location {
			return v.values.Bind(func([]lockspec.Node) []pathlock.Resolution { return found })
		}
	}
	return before, nil
}

// resolve finds nodes, those of a kind at once if its resolver can.
func (m *Locks) resolve(ctx context.Context, nodes []lockspec.Node) []pathlock.Resolution {
	found := make([]pathlock.Resolution, len(nodes))
	for i, n := range nodes {
		alike := func(other lockspec.Node) bool { return other.Kind == n.Kind }
		switch r := m.resolvers[n.Kind].(type) {
		case nil:
			found[i].Err = fmt.Errorf("middleware: there is no resolver for the kind %q", n.Kind)
		case pathlock.BatchResolver:
			if !slices.ContainsFunc(nodes[:i], alike) { // else it has been asked for this one, too
				resolveAll(ctx, r, n.Kind, nodes, found)
			}
		default:
			found[i].Location, found[i].Err = r.Resolve(ctx, n.ID)
		}
	}
	return found
}

// resolveAll finds the nodes of one kind.
func resolveAll(ctx context.Context, r pathlock.BatchResolver, kind string, nodes []lockspec.Node, found []pathlock.Resolution) {
	var ids []string
	for _, n := range nodes {
		if n.Kind == kind {
			ids = append(ids, n.ID)
		}
	}
	all := r.ResolveAll(ctx, ids)
	if len(all) != len(ids) {
		err := fmt.Errorf("middleware: the resolver for the kind %q was asked for %d ids and answered for %d", kind, len(ids), len(all))
		all = slices.Repeat([]pathlock.Resolution{{Err: err}}, len(ids))
	}
	for i, n := range nodes {
		if n.Kind == kind {
			found[i], all = all[0], all[1:]
		}
	}
}

// findsByDefault reports whether a spec has an id for the resolver of no kind: it binds a request
// that has everything.
func findsByDefault(spec lockspec.Spec) (does bool) {
	values, err := spec.Read(func(lockspec.Source) ([]string, error) { return []string{"1"}, nil })
	if err != nil {
		return false
	}
	_, _ = values.Bind(func(nodes []lockspec.Node) []pathlock.Resolution {
		does = slices.ContainsFunc(nodes, func(n lockspec.Node) bool { return n.Kind == "" })
		return make([]pathlock.Resolution, len(nodes))
	})
	return does
}
