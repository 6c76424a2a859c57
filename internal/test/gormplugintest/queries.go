package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/middleware"
	"gorm.io/gorm"
)

// queryChecks are about what queries find beside what the state machine looks up.
func queryChecks() []check {
	return []check{
		{"a row that moves before the query finds nothing, never the rows of another", func(w *world) {
			w.build("/a/old")
			query := gormplugin.Subtree(w.db, &Suite{}, w.build("/a").ID)
			leaves := gormplugin.Leaves(w.db, &Case{}, w.build("/a").ID)
			w.must(gormplugin.Rename(w.db, &Suite{}, w.build("/a").ID, "b"))
			other := w.build("/a/new")
			w.must(w.db.Create(&Case{SuiteID: other.ID, Name: "t"}).Error)
			w.hits(query.Find(&[]Suite{}), 0)
			w.hits(leaves.Find(&[]Case{}), 0)
		}},
		{"the row at a path", func(w *world) {
			b := w.build("/a/b")
			w.must(w.db.Create(&Case{SuiteID: b.ID, Name: "t"}).Error)
			at := func(model any, path string) *gorm.DB {
				return gormplugin.At(w.db, model, w.root.PlanID, pathlock.MustParsePath(path))
			}
			w.hits(at(&Case{}, "/a/b/t").Find(&Case{}), 1)
			w.hits(gormplugin.Children(w.db, &Case{}, b.ID).Find(&[]Case{}), 1)
			w.hits(gormplugin.Children(w.db, &Case{}, *b.ParentID).Find(&[]Case{}), 0)
			for _, path := range []string{"/a/B", "/a/b/t", "/a/b%", "/a/b "} {
				w.fails(at(&Suite{}, path).Take(&Suite{}).Error, gorm.ErrRecordNotFound)
			}
			w.fails(at(&Case{}, "/a/b/T").Take(&Case{}).Error, gorm.ErrRecordNotFound)
			w.fails(at(&Case{}, "/").Take(&Case{}).Error, pathlock.ErrInvalidPath)
			w.fails(gormplugin.Leaves(w.db, &Suite{}, b.ID).Find(&[]Suite{}).Error, gormplugin.ErrUnsupported)
			w.fails(gormplugin.Subtree(w.db, &Case{}, b.ID).Error, pathlock.ErrNotFound)
		}},
		{"a query that has failed fails what it is a part of", failWithin},
		{"rows by another column", findByColumn},
		{"rows by another column, again", findAgain},
		{"rows of one tree, again", findNoOther},
		{"rows that others have turned round", findTurned},
		{"rows by their paths", findByPath},
		{"what clients are told", checkDetails},
	}
}

// failWithin uses queries that have failed where GORM does not look at their errors.
func failWithin(w *world) {
	a := w.build("/a")
	w.must(w.db.Create(&Case{SuiteID: a.ID, Name: "t"}).Error)
	var n int64
	for what, use := range map[string]func(tx, failed *gorm.DB) error{
		"a subquery of a DELETE": func(tx, failed *gorm.DB) error {
			return tx.Where("suite_id NOT IN (?)", failed.Select("id")).Delete(&Case{}).Error
		},
		"a subquery of a subquery": func(tx, failed *gorm.DB) error {
			return tx.Where("suite_id NOT IN (?)", w.db.Model(&Suite{}).Select("id").Where("id IN (?)", failed)).Delete(&Case{}).Error
		},
		"conditions of a DELETE": func(tx, failed *gorm.DB) error {
			return tx.Where("suite_id = ?", a.ID).Where(failed).Delete(&Case{}).Error
		},
		"conditions of a rename": func(tx, failed *gorm.DB) error {
			return tx.Model(a).Where(failed).Update("name", "x").Error
		},
		"a table":       func(tx, failed *gorm.DB) error { return tx.Table("(?) AS s", failed).Find(&[]map[string]any{}).Error },
		"a join":        func(tx, failed *gorm.DB) error { return tx.Joins("CROSS JOIN (?) AS s", failed).Find(&[]Case{}).Error },
		"by itself":     func(_, failed *gorm.DB) error { return failed.Find(&[]Suite{}).Error },
		"its own count": func(_, failed *gorm.DB) error { return failed.Count(&n).Error },
	} {
		for _, db := range []*gorm.DB{w.db, w.db.Session(&gorm.Session{PrepareStmt: true})} {
			if err := use(db, gormplugin.Subtree(db, &Suite{}, 8888)); !errors.Is(err, pathlock.ErrNotFound) {
				w.Errorf("%s: %v, want that the row is not found", what, err)
			}
		}
		if err := use(w.db, gormplugin.Children(w.db, &struct{ ID int }{}, 1)); err == nil {
			w.Errorf("%s of a model that is not registered: no error", what)
		}
	}
	w.hits(w.db.Find(&[]Case{}, "suite_id = ? AND body = ''", a.ID), 1)
	w.has("/a")
}

// finds checks what a resolver finds by one statement: each text's path, or else the error.
func (w *world) finds(r pathlock.Resolver, want map[string]any) {
	w.Helper()
	for _, ctx := range []context.Context{w.Context(), r.(preparer).Prepare(w.Context())} {
		texts := slices.Collect(maps.Keys(want))
		r.(preparer).ResolveAll(ctx, texts) // once, some databases are asked for the types of keys
		w.trace.reset()
		for i, found := range r.(preparer).ResolveAll(ctx, texts) {
			switch want := want[texts[i]].(type) {
			case error:
				w.fails(found.Err, want)
			case string:
				if found.Err != nil || found.Tree != w.tree() || found.Path.String() != want {
					w.Errorf("%q is found at %v, %v, want %s", texts[i], found.Location, found.Err, want)
				}
			}
		}
		if all, _ := w.counted(); all != 1 {
			w.Errorf("%d statements look %q up, want one", all, texts)
		}
	}
}

// findByColumn looks up rows by the note, which is unique as far as the test goes.
func findByColumn(w *world) {
	b, c, other := w.build("/a/b"), w.build("/a/c"), w.suite(w.newPlan(), "b")
	w.must(w.db.Model(b).Update("note", "x").Error)
	w.must(w.db.Model(c).Update("note", "x y%").Error)
	w.must(w.db.Model(w.build("/gone")).Update("note", "gone").Error)
	w.must(w.db.Delete(w.build("/gone")).Error)
	everywhere := w.plugin.ResolverBy(&Suite{}, "Note")
	want := map[string]any{"x": "/a/b", "x y%": "/a/c", "X": pathlock.ErrNotFound, "x ": pathlock.ErrNotFound, "gone": pathlock.ErrNotFound}
	w.finds(everywhere, want)
	tree := any(w.root.PlanID)
	inPlan := w.plugin.ResolverBy(&Suite{}, "note", func(context.Context) (any, error) { return tree, nil })
	w.must(w.db.Model(other).Update("note", "x").Error)
	w.finds(inPlan, want)
	if _, err := everywhere.Resolve(w.Context(), "x"); err == nil || errors.Is(err, pathlock.ErrNotFound) {
		w.Errorf("one of two rows with the note is found: %v", err)
	}
	_, err := everywhere.Resolve(w.Context(), "")
	w.fails(err, pathlock.ErrInvalidID)
	for _, tree = range []any{nil, (*int64)(nil), fmt.Sprintf("%d or 1", w.root.PlanID), gorm.Expr("plan_id")} {
		if _, err := inPlan.Resolve(w.Context(), "x"); err == nil || pathlock.FailureOf(err) != "" {
			w.Errorf("in the tree %v: %v, want a mistake of the program's", tree, err)
		}
	}
	w.must(gormplugin.Rename(w.db, &Suite{}, c.ID, "c2")) // once, some databases are asked for their indexes
	var counts []int
	for _, r := range []pathlock.Resolver{w.plugin.Resolver(&Suite{}), inPlan} {
		w.must(w.db.Model(b).Update("note", fmt.Sprint(b.ID)).Error)
		tree = w.root.PlanID
		ctx := r.(preparer).Prepare(w.Context())
		at, err := r.Resolve(ctx, fmt.Sprint(b.ID))
		w.must(err)
		w.trace.reset()
		w.must(gormplugin.Rename(w.db.WithContext(ctx), &Suite{}, b.ID, at.Path.Base()+"2"))
		all, _ := w.counted()
		counts = append(counts, all)
	}
	if counts[0] != counts[1] {
		w.Errorf("a write needs %d statements after a look-up by the key, and %d by the note", counts[0], counts[1])
	}
	w.must(w.db.Create(&Case{SuiteID: b.ID, Name: "t", Body: "leaf"}).Error)
	at, err := w.plugin.ResolverBy(&Case{}, "body").Resolve(w.Context(), "leaf")
	w.must(err)
	if at.Path.String() != "/a/b22/t" || at.Tree != w.tree() {
		w.Errorf("the leaf is found at %v", at)
	}
}

// findAgain looks up a row by its note and by its path where it was found before, after what others
// have done meanwhile.
func findAgain(w *world) {
	note := w.plugin.ResolverBy(&Suite{}, "note")
	paths := w.plugin.ResolverBy(&Suite{}, "path", func(context.Context) (any, error) { return w.root.PlanID, nil })
	b, d := w.build("/a/b/c"), w.build("/d/e")
	raw := gormplugin.AllowRawWrites(w.db) // which this process learns nothing of, as if another one moved the row
	w.must(w.db.Model(b).Update("note", "again").Error)
	for _, c := range []struct {
		after      string
		do         func() error
		want       string
		statements int
	}{
		{"nothing", func() error { return nil }, "/a/b/c", 1},
		{"no change", func() error { return nil }, "/a/b/c", 1},
		{"a rename above", func() error { return gormplugin.Rename(w.db, &Suite{}, w.build("/a").ID, "A") }, "/A/b/c", 1},
		{"a move above by another process", func() error {
			return errors.Join(
				raw.Exec("UPDATE suites SET parent_id = ?, path = '/d/e/b' WHERE id = ?", d.ID, w.build("/A/b").ID).Error,
				raw.Exec("UPDATE suites SET path = '/d/e/b/c' WHERE id = ?", b.ID).Error)
		}, "/d/e/b/c", 2},
		{"a move above", func() error {
			return gormplugin.Move(w.db, &Suite{}, w.build("/d/e/b").ID, gormplugin.Below(w.build("/A").ID))
		}, "/A/b/c", 1},
		{"no further change", func() error { return nil }, "/A/b/c", 1},
		{"a row in its place", func() error {
			return errors.Join(w.db.Model(b).Update("note", "y").Error, w.db.Model(w.build("/A/b/f")).Update("note", "again").Error)
		}, "/A/b/f", 1},
		{"a row elsewhere in its place", func() error {
			return errors.Join(w.db.Model(&Suite{}).Where("note = ?", "again").Update("note", "z").Error, w.db.Model(w.build("/A")).Update("note", "again").Error)
		}, "/A", 1},
		{"the deletion", func() error { return w.db.Delete(w.build("/A")).Error }, "", 1},
	} {
		w.must(c.do())
		for i, r := range []pathlock.Resolver{note, paths} { // the second one knows what the first has read
			by := []string{"again", c.want}[i]
			if by == "" {
				continue
			}
			ctx := r.(preparer).Prepare(w.Context())
			w.trace.reset()
			at, err := r.Resolve(ctx, by)
			if all, _ := w.counted(); r == note && all != c.statements {
				w.Errorf("after %s: %d statements, want %d", c.after, all, c.statements)
			}
			if c.want == "" {
				w.fails(err, pathlock.ErrNotFound)
			} else if err != nil || at.Path.String() != c.want {
				w.Errorf("after %s: %q is at %v, %v, want %s", c.after, by, at, err, c.want)
			}
			if recursive := strings.Contains(strings.Join(w.trace.ran(), "\n"), "RECURSIVE"); r == note && recursive != (c.after == "nothing" || c.statements == 2) {
				w.Errorf("after %s: recursive: %v", c.after, recursive)
			}
		}
	}
}

// findNoOther looks up a row again, of whose name another tree has a row with the key that the row
// above had.
func findNoOther(w *world) {
	a := &Topic{WikiID: w.newPlan().PlanID, Name: "a"}
	w.must(w.db.Create(a).Error)
	w.must(w.db.Create(&Topic{WikiID: a.WikiID, ParentID: &a.ID, Name: "b"}).Error)
	names := w.plugin.ResolverBy(&Topic{}, "name", func(context.Context) (any, error) { return a.WikiID, nil })
	find := func() error {
		_, err := names.Resolve(names.(preparer).Prepare(w.Context()), "b")
		return err
	}
	w.must(find())
	w.must(w.db.Unscoped().Delete(&Topic{}, a.ID).Error)
	w.must(w.db.Create(&Topic{ID: a.ID, WikiID: w.newPlan().PlanID, Name: "b"}).Error)
	w.fails(find(), pathlock.ErrNotFound)
}

// findTurned looks up two rows again, of which another program has put the upper one below the
// other.
func findTurned(w *world) {
	b := w.build("/a/b")
	a := w.build("/a")
	w.must(errors.Join(w.db.Model(a).Update("note", "a").Error, w.db.Model(b).Update("note", "b").Error))
	notes := w.plugin.ResolverBy(&Suite{}, "note").(preparer)
	find := func(ctx context.Context, note, want string) {
		if at, err := notes.Resolve(ctx, note); err != nil || at.Path.String() != want {
			w.Errorf("%s is at %v, %v, want %s", note, at, err, want)
		}
	}
	request := func() context.Context { return notes.Prepare(w.Context()) }
	find(request(), "a", "/a")
	find(request(), "b", "/a/b")
	db, err := gorm.Open(w.db.Dialector, &gorm.Config{})
	w.must(err)
	w.must(db.Use(NewPlugin(w.locker)))
	w.must(gormplugin.Move(db, &Suite{}, b.ID, gormplugin.Below(w.root.ID)))
	w.must(gormplugin.Move(db, &Suite{}, a.ID, gormplugin.Below(b.ID)))
	find(w.Context(), "a", "/b/a") // by now, each is remembered below the other
	find(request(), "b", "/b")
	find(request(), "a", "/b/a")
}

// findByPath looks up rows by what users type.
func findByPath(w *world) {
	w.build("/a/b%")
	w.suite(w.suite(w.newPlan(), "a"), "other")
	w.must(w.db.Delete(w.build("/gone")).Error)
	w.finds(w.plugin.ResolverBy(&Suite{}, "path", func(context.Context) (any, error) { return w.root.PlanID, nil }), map[string]any{
		"a": "/a", "/a/b%": "/a/b%", "a/b%/": "/a/b%", "": "/", "/": "/",
		"a/other": pathlock.ErrNotFound, "A": pathlock.ErrNotFound, "a/b": pathlock.ErrNotFound, "a/b%%": pathlock.ErrNotFound, "gone": pathlock.ErrNotFound,
		"a//b%": pathlock.ErrInvalidID, "//": pathlock.ErrInvalidID, "../a": pathlock.ErrInvalidID, "a\x00": pathlock.ErrInvalidID,
	})
}

// checkDetails checks that clients learn what was wrong with their request, but no table, key or
// tree.
func checkDetails(w *world) {
	a, b, other := w.build("/a"), w.build("/a/b"), w.newPlan()
	changed, gone, circling := w.build("/changed"), w.build("/gone"), w.build("/a")
	w.must(w.db.Delete(&Suite{}, gone.ID).Error)
	changed.Name, gone.Name, circling.ParentID = "other", "other", &b.ID
	w.must(w.db.Create(&Case{SuiteID: b.ID, Name: "t"}).Error)
	ctx, suites := w.Context(), w.plugin.Resolver(&Suite{})
	_, missing := suites.Resolve(ctx, "8888")
	_, invalid := suites.Resolve(ctx, "x8888")
	_, alias := w.plugin.ResolverBy(&Suite{}, "note").Resolve(ctx, "x8888")
	lock, err := w.locker.Acquire(ctx, pathlock.Request{Tree: w.tree(), Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}})
	w.must(err)
	locked := gormplugin.Rename(w.db, &Suite{}, b.ID, "c")
	w.must(lock.Release(ctx))
	for what, err := range map[string]error{
		"not found": missing, `invalid id: "x8888": invalid syntax`: invalid, "not found ": alias,
		"not found  ":                           w.db.Create(&Suite{ParentID: new(int64(8888)), Name: "n"}).Error,
		"name taken":                            w.db.Create(&Suite{ParentID: &a.ID, Name: "b"}).Error,
		"a root row is the only row at the top": w.db.Create(&Suite{PlanID: w.root.PlanID, Name: "n"}).Error,
		"path changed":                          &gormplugin.PathChangedError{Table: "suites", ID: b.ID, Planned: "/a/b", Actual: "/c"},
		"stale row: read the row again  ":       w.db.Where("1 = 0").Save(changed).Error,
		"stale row: unsupported write: the row is deleted  ":    w.db.Save(gone).Error,
		"move into the node's own subtree: /a cannot go below":  gormplugin.Arrange(w.db, []*Suite{circling}),
		"no place for the row: the parent is in another tree  ": gormplugin.Move(w.db, &Suite{}, b.ID, gormplugin.Below(other.ID)),
		"no place for the row: a leaf needs a parent  ":         w.db.Create(&Case{Name: "x"}).Error,
		"no place for the row: a root row can be neither renam": gormplugin.Rename(w.db, &Suite{}, w.root.ID, "x"),
		"locked by others: IX /a in the tree":                   locked,
	} {
		p := middleware.ProblemOf(err)
		if p == nil || !strings.HasPrefix(p.Detail+"  ", what) {
			w.Errorf("%v is answered by %v, want %s", err, p, what)
			continue
		}
		for _, inside := range []string{"suites", Namespace, fmt.Sprint(w.root.PlanID)} {
			if strings.Contains(p.Detail, inside) {
				w.Errorf("%v is answered by %q, which has %q", err, p.Detail, inside)
			}
		}
	}
	sent := func(column string, value any) error {
		return w.db.Model(b).Updates(map[string]any{column: value}).Error
	}
	for what, err := range map[string]error{
		"a fraction for the parent": sent("parent_id", 1.5), "a list for the parent": sent("parent_id", []any{1.0}), "a word for the parent": sent("parent_id", "one"),
		"an object for the name": sent("name", map[string]any{"x": 1}), "a leaf without a parent": w.db.Create(&Case{Name: "x"}).Error,
	} {
		if got := w.plugin.FailureOf(err); got != pathlock.FailureInvalid {
			w.Errorf("%s: got %q for %v, want that the client is to blame", what, got, err)
		}
	}
	if err := sent("parent_id", gorm.Expr("1")); err == nil || w.plugin.FailureOf(err) != "" {
		w.Errorf("an expression for the parent: %v, want a mistake of the program's", err)
	}
}
