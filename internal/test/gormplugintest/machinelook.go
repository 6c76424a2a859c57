package gormplugintest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"gorm.io/gorm"
	"pgregory.net/rapid"
)

// look asks for rows with the functions that find them, and compares with the forest. Later
// statements of a request know the rows that it has found.
func (m *machine) look(w *world) {
	x, db := m.table, w.db.WithContext(m.Context())
	resolver := w.plugin.Resolver(x.new()).(preparer)
	ctx := resolver.Prepare(m.Context())
	m.requests[w] = ctx
	ids := append(m.live(), m.dead()...)
	if len(ids) == 0 {
		return
	}
	if live := m.live(); x.shown && len(live) > 0 {
		// Another program's row: NULL is live, too.
		err := gormplugin.AllowRawWrites(db).Exec("UPDATE "+x.quoted(db)+" SET "+x.mark+" = NULL WHERE id = ?", m.keys[pick(m, live, "NULL")]).Error
		testerr.Must(m, err)
	}
	ids = m.some(ids, "looked up")
	if none := x.get(x.new(), "id"); m.table.restored == nil && none == any(int64(0)) || none == any("") || none == any(UUID("")) {
		var texts []string
		for _, id := range ids {
			texts = append(texts, x.text(m.spelled(m.keys[id])))
		}
		for i, found := range resolver.ResolveAll(ctx, texts) {
			m.isAt(ids[i], found.Location, found.Err)
		}
		m.lookUp(ctx, w, ids, "id", func(id int) string { return x.text(m.keys[id]) })
	}
	if !m.nameless {
		m.lookUp(ctx, w, ids, x.label, func(id int) string { return m.rows[id].name })
	}
	if x.path != "" {
		// A deleted row may have a parent and no name.
		m.lookUp(ctx, w, ids, x.path, func(id int) string { return strings.TrimSuffix(m.path(m.rows[id].parent)+"/"+m.rows[id].name, "/") })
	}
	for _, id := range ids {
		at, err := gormplugin.Resolve(db, x.new(), m.keys[id])
		m.isAt(id, at, err)
		if m.rows[id].dead {
			continue
		}
		line, _ := m.line(id)
		m.finds("Subtree", gormplugin.Subtree(db, x.new(), m.keys[id]), m.below(id))
		m.finds("Ancestors", gormplugin.Ancestors(db, x.new(), m.keys[id]), line[:len(line)-1])
		m.finds("Children", gormplugin.Children(db, x.new(), m.keys[id]), slices.DeleteFunc(m.live(), func(child int) bool { return m.rows[child].parent != id }))
		for _, none := range []any{nil, reflect.Zero(reflect.TypeOf(m.keys[id])).Interface()} {
			m.finds("Children of no row", gormplugin.Children(db, x.new(), none), nil)
		}
		if x.path != "" {
			tree := m.trees[m.rows[id].tree]
			m.finds("At", gormplugin.At(db, x.new(), tree, at.Path), []int{id})
			if x.sole != "" && !isA(gormplugin.At(db, x.new(), "elsewhere", at.Path).Error, gormplugin.ErrUnsupported) {
				m.Fatal("a row is looked for in a tree that there is not")
			}
			// A name that the column would spell as two is nobody's.
			if joined, err := at.Path.Parent().Parent().Child(at.Path.Parent().Base() + m.form.separator + at.Path.Base()); err == nil && at.Path.Depth() > 1 {
				m.finds("At two names in one", gormplugin.At(db, x.new(), tree, joined), nil)
			}
		}
	}
}

// preparer is a resolver whose answers a later write knows.
type preparer interface {
	pathlock.BatchResolver
	Prepare(ctx context.Context) context.Context
}

// lookUp asks for the rows with the values of some rows, in one tree or in all. The table's memory
// of earlier answers must change none.
func (m *machine) lookUp(ctx context.Context, w *world, ids []int, column string, held func(id int) string) {
	x, in := m.table, m.rows[ids[0]].tree
	everywhere := x.sole != "" || column == "id" && rapid.Bool().Draw(m.T, "in all trees")
	var tree []func(context.Context) (any, error)
	if !everywhere {
		tree = append(tree, func(context.Context) (any, error) { return m.spelled(m.trees[in]), nil })
	}
	if rapid.Bool().Draw(m.T, "in no request") {
		ctx = m.Context()
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id int) bool { return strings.Trim(held(id), "/") == "" })
	texts, names := make([]string, len(ids)), spelling{separator: m.form.separator}
	for i, id := range ids {
		if texts[i] = held(id); column == x.path {
			texts[i] = m.typed(names, names.of(held(id)))
		}
	}
	for i, found := range w.plugin.ResolverBy(x.new(), column, tree...).(preparer).ResolveAll(ctx, texts) {
		hits := slices.DeleteFunc(m.live(), func(id int) bool { return held(id) != held(ids[i]) || !everywhere && m.rows[id].tree != in })
		switch {
		case len(hits) == 1:
			m.isAt(hits[0], found.Location, found.Err)
		case found.Err == nil || isA(found.Err, pathlock.ErrNotFound) != (len(hits) == 0):
			m.Fatalf("%d rows have the %s %q: found at %v, %v", len(hits), column, texts[i], found.Location, found.Err)
		}
	}
}

// isAt checks where a row was found.
func (m *machine) isAt(id int, at pathlock.Location, err error) {
	switch {
	case m.rows[id].dead:
		if !isA(err, pathlock.ErrNotFound) {
			m.Fatalf("a deleted row is found at %v, %v", at, err)
		}
	case err != nil:
		m.Fatal(err)
	case m.table.path != "" && strings.TrimSuffix(at.Path.String(), "/") != m.path(id) || m.table.path == "" && !m.table.scarce && at.Path.Base() != m.table.text(m.keys[id]):
		m.Fatalf("%s is found at %s", m.path(id), at.Path)
	}
}

// finds checks what a query finds.
func (m *machine) finds(what string, query *gorm.DB, want []int) {
	rows := reflect.New(reflect.SliceOf(m.table.schema.ModelType))
	testerr.MustBe(m, what, query.Find(rows.Interface()).Error, nil)
	var got, wanted []string
	for i := range rows.Elem().Len() {
		got = append(got, m.table.text(m.table.get(rows.Elem().Index(i).Addr().Interface(), "id")))
	}
	for _, id := range want {
		wanted = append(wanted, m.table.text(m.keys[id]))
	}
	m.same(got, wanted)
}

// guard asserts rows, or locks their subtrees, by their keys in any form.
func (m *machine) guard() statement {
	x, ids := m.table, m.some(append(m.live(), m.dead()...), "rows")
	s := statement{after: m.forest}
	run, what := gormplugin.AssertAll, "assert"
	if rapid.Bool().Draw(m.T, "lock") {
		run, what, s.claims = gormplugin.LockSubtrees, "lock", make(map[int][]string)
	}
	s.what = fmt.Sprintf("%s %v", what, m.paths(ids))
	keys := m.keysOf(ids)
	for i, id := range ids {
		if key, ok := keys[i].(int64); ok {
			keys[i] = pick(m, []any{key, &key, fmt.Sprint(key), uint64(key)}, "key")
		}
		if m.rows[id].dead {
			s.reasons = append(s.reasons, pathlock.ErrNotFound)
		} else if s.claims != nil {
			s.claims[m.rows[id].tree] = append(s.claims[m.rows[id].tree], m.path(id))
		}
	}
	var at []pathlock.Location
	s.run = func(db *gorm.DB) (err error) {
		at, err = run(db, x.new(), keys...)
		return err
	}
	s.told = func(forest) {
		for i, id := range ids {
			m.isAt(id, at[i], nil)
			if want, _ := pathlock.NewTree(x.schema.Table, x.text(m.trees[m.rows[id].tree])); at[i].Tree != want && !x.scarce {
				m.Fatalf("%s: %s is in %s", s.what, m.path(id), at[i].Tree)
			}
		}
	}
	return s
}
