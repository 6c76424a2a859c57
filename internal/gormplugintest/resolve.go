package gormplugintest

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// resolveChecks are about what it takes to find the rows of several ids.
func resolveChecks() []check {
	return []check{
		{"several ids are resolved as one by one", func(w *world) {
			b, d := w.build("/a/b"), w.build("/d")
			here, there := &Case{SuiteID: b.ID, Name: "t"}, &Case{SuiteID: d.ID, Name: "u"}
			w.must(w.db.Create([]*Case{here, there}).Error)
			gone := w.build("/gone")
			lost := &Case{SuiteID: gone.ID, Name: "v"}
			w.must(w.db.Create(lost).Error)
			_, err := gormplugin.Delete(w.db, &Suite{}, gone.ID)
			w.must(err)
			for _, c := range []struct {
				model any
				reads int
				ids   []string
			}{
				{&Suite{}, 1, []string{text(b.ID), text(d.ID)}},
				{&Suite{}, 1, []string{text(d.ID), "x", text(gone.ID), text(w.root.ID), text(d.ID), "-1"}},
				{&Suite{}, 0, []string{"x", ""}},
				{&Suite{}, 0, nil},
				{&Case{}, 2, []string{text(there.ID), text(here.ID)}},
				{&Case{}, 2, []string{text(lost.ID), "x", text(here.ID), "-1"}},
				{&Case{}, 1, []string{"-1", "-2"}},
			} {
				for _, ctx := range []context.Context{w.Context(), w.prepared()} {
					w.resolvesAlike(ctx, c.model, c.ids, c.reads)
				}
			}
		}},
	}
}

// text is an id as it stands in a request.
func text(id int64) string { return fmt.Sprint(id) }

// batch is the plugin's resolver of a model.
func (w *world) batch(model any) pathlock.BatchResolver {
	w.Helper()
	resolver, ok := w.plugin.Resolver(model).(pathlock.BatchResolver)
	if !ok {
		w.Fatal("the plugin's resolver resolves no more than one id")
	}
	return resolver
}

// prepared is the context of a request whose write is to know what its ids were resolved to.
func (w *world) prepared() context.Context {
	w.Helper()
	resolver, ok := w.plugin.Resolver(&Suite{}).(interface {
		Prepare(ctx context.Context) context.Context
	})
	if !ok {
		w.Fatal("the plugin's resolver cannot be prepared")
	}
	return resolver.Prepare(w.Context())
}

// resolvesAlike checks that ids are resolved together to what they are resolved to one by one.
func (w *world) resolvesAlike(ctx context.Context, model any, ids []string, reads int) {
	w.Helper()
	// What lies above the rows is known from now on.
	w.batch(model).ResolveAll(w.prepared(), ids)
	w.trace.reset()
	all := w.batch(model).ResolveAll(ctx, ids)
	if ran := w.trace.ran(); len(ran) != reads {
		w.Errorf("%T %q: %d reads, want %d: %q", model, ids, len(ran), reads, ran)
	}
	if len(all) != len(ids) {
		w.Fatalf("%T: %d ids have %d answers", model, len(ids), len(all))
	}
	for i, id := range ids {
		at, err := w.batch(model).Resolve(ctx, id)
		if at != all[i].Location || fmt.Sprint(err) != fmt.Sprint(all[i].Err) {
			w.Errorf("%T %q: %v, %v together with others, and %v, %v alone", model, id, all[i].Location, all[i].Err, at, err)
		}
	}
}
