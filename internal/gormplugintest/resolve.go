package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// resolveChecks are about what it takes to find the rows of several ids.
func resolveChecks() []check {
	checks := []check{
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
		{"a model that is not registered has no rows to resolve", func(w *world) {
			for _, found := range w.batch(&Other{}).ResolveAll(w.Context(), []string{"1", "x"}) {
				if found.Err == nil || errors.Is(found.Err, pathlock.ErrNotFound) {
					w.Errorf("got %v, want an error that names the model", found.Err)
				}
			}
		}},
	}
	for _, c := range climbs() {
		checks = append(checks, check{"the way up from " + c.name, func(w *world) {
			deep := w.build("/a/b/c")
			w.resolved(deep, w.build("/d/e"), w.build("/f"), w.build("/g"))
			c.change(w)
			for _, want := range []int{c.reads, c.again} {
				if want == 0 {
					continue
				}
				w.trace.reset()
				at, err := w.batch(&Suite{}).Resolve(w.prepared(), text(deep.ID))
				reads, recursive := 0, false
				for _, s := range w.trace.ran() {
					reads++
					recursive = recursive || strings.Contains(s, "RECURSIVE")
				}
				if c.want == "" {
					w.fails(err, pathlock.ErrNotFound)
				} else if w.must(err); at.Path.String() != c.want {
					w.Errorf("it is found at %s, want %s", at.Path, c.want)
				}
				if reads != want || recursive != (c.recursive && want == c.reads) {
					w.Errorf("it took %d reads, a recursive one among them: %t; want %d, %t", reads, recursive, want, c.recursive)
				}
			}
		}})
	}
	return checks
}

// climb is what happened to /a/b/c or what is above since it was looked up last, as /d/e, /f and /g
// were.
type climb struct {
	name   string
	change func(w *world)
	// want is where it is found then, "" for nowhere; by how many reads, and by how many the next
	// time, 0 for no next time.
	want         string
	reads, again int
	recursive    bool
}

func climbs() []climb {
	return []climb{
		{"what stayed where it was", func(*world) {}, "/a/b/c", 1, 1, false},
		{"what was renamed", func(w *world) {
			w.must(gormplugin.Rename(w.db, &Suite{}, w.build("/a").ID, "z"))
		}, "/z/b/c", 1, 1, false},
		{"what this plugin moved", func(w *world) {
			w.must(gormplugin.Move(w.db, &Suite{}, w.build("/a/b/c").ID, gormplugin.Below(w.build("/d/e").ID)))
		}, "/d/e/c", 1, 1, false},
		{"what this plugin moved with what is above", func(w *world) {
			w.must(gormplugin.Move(w.db, &Suite{}, w.build("/a/b").ID, gormplugin.Below(w.build("/d/e").ID)))
		}, "/d/e/b/c", 1, 1, false},
		{"what this plugin moved in vain", func(w *world) {
			err := w.db.Transaction(func(tx *gorm.DB) error {
				w.must(gormplugin.Move(tx, &Suite{}, w.build("/a/b/c").ID, gormplugin.Below(w.build("/d/e").ID)))
				return errInVain
			})
			w.fails(err, errInVain)
		}, "/a/b/c", 2, 1, false},
		{"what others moved", func(w *world) { w.moveByHand("/a/b/c", "/d/e") }, "/d/e/c", 2, 1, false},
		{"what others moved with what is above", func(w *world) { w.moveByHand("/a/b", "/d") }, "/d/b/c", 2, 1, false},
		{"what others moved, and then what is above it", func(w *world) {
			w.moveByHand("/a/b/c", "/d/e")
			w.moveByHand("/d", "/f")
		}, "/f/d/e/c", 3, 1, false},
		{"what others moved, and then all that is above it", func(w *world) {
			w.moveByHand("/a/b/c", "/d/e")
			w.moveByHand("/d", "/f")
			w.moveByHand("/f", "/g")
		}, "/g/f/d/e/c", 4, 1, true},
		{"what others moved to where it had been below", func(w *world) {
			w.moveByHand("/a/b/c", "/d/e")
			w.moveByHand("/d", "/a/b")
		}, "/a/b/d/e/c", 2, 1, false},
		{"what others moved to where nobody has looked", func(w *world) {
			w.build("/new/one")
			w.moveByHand("/a/b/c", "/new/one")
		}, "/new/one/c", 2, 1, true},
		{"what others deleted", func(w *world) {
			_, err := gormplugin.Delete(w.db, &Suite{}, w.build("/a/b").ID)
			w.must(err)
		}, "", 1, 0, false},
	}
}

// errInVain is why a transaction is rolled back.
var errInVain = errors.New("in vain")

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

// moveByHand moves a row, and the rows below it, without the plugin's knowledge.
func (w *world) moveByHand(path, below string) {
	w.Helper()
	s, parent := w.build(path), w.build(below)
	pool, err := w.db.DB()
	w.must(err)
	var rows []Suite
	w.must(gormplugin.Subtree(w.db, &Suite{}, s.ID).Find(&rows).Error)
	for _, row := range rows {
		set := fmt.Sprintf("path = '%s/%s%s'", parent.Path, s.Name, strings.TrimPrefix(row.Path, s.Path))
		if row.ID == s.ID {
			set += fmt.Sprintf(", parent_id = %d", parent.ID)
		}
		_, err := pool.ExecContext(w.Context(), fmt.Sprintf("UPDATE suites SET %s WHERE id = %d", set, row.ID))
		w.must(err)
	}
}
