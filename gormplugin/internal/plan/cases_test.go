package plan_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// The state machine of internal/test/gormplugintest has the laws of plans: which places rows get,
// what is locked for them, and what is refused. Here is what it does not draw.

// grove is a tree, t, of the rows 1 /a, 2 /a/b, 3 /a/b/c and 4 /d; a tree u with a root row, 7, and
// 8 /x below it; and, in the other table, the leaves 9 and 10 below 2, and 11, whose parent is
// deleted. 12 is below 3, one deeper than is allowed.
type grove struct{ nodes, leaves *plan.Shape }

func newGrove() grove {
	g := grove{
		&plan.Shape{TableName: "suites", Namespace: "suites", MaxDepth: 4, NameRoom: plan.Room{Column: "name", Size: 9}, PathRoom: plan.Room{Column: "path", Size: 30}},
		&plan.Shape{TableName: "cases", IsLeaf: true, MaxDepth: pathlock.MaxDepth},
	}
	g.nodes.Above, g.leaves.Above = g.nodes, g.nodes
	return g
}

func (g grove) row(id int) *plan.Node {
	return map[int]*plan.Node{
		1: {ID: 1, Name: "a", Path: "/a", Tree: "t"}, 2: {ID: 2, Name: "b", Path: "/a/b", Tree: "t", Parent: 1}, 3: {ID: 3, Name: "c", Path: "/a/b/c", Tree: "t", Parent: 2},
		4: {ID: 4, Name: "d", Path: "/d", Tree: "t"}, 7: {ID: 7, Path: "", Tree: "u"}, 8: {ID: 8, Name: "x", Path: "/x", Tree: "u", Parent: 7}, 12: {ID: 12, Name: "o", Path: "/a/b/c/o", Tree: "t", Parent: 3},
		9: {ID: 9, Name: "i", Parent: 2}, 10: {ID: 10, Name: "j", Parent: 2}, 11: {ID: 11, Name: "k", Parent: 5},
	}[id]
}

// rows returns rows by their ids.
func (g grove) rows(ids ...int) map[any]*plan.Node {
	found := make(map[any]*plan.Node)
	for _, id := range ids {
		found[id] = g.row(id)
	}
	return found
}

// live are the rows that are no leaves, and not deleted.
func (g grove) live() map[any]*plan.Node { return g.rows(1, 2, 3, 4, 7, 8, 12) }

// locks lists what a plan locks.
func locks(d plan.Demand) string {
	var all []string
	for _, r := range d.Requests("", time.Second) {
		for _, c := range r.Claims {
			all = append(all, fmt.Sprintf("%s %v%s", r.Tree.ID(), c.Mode, c.Path))
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func as[T any](value T) *T { return &value }

// A path that is stated beside a name, or beside a parent, has to be the old or the new one.
func TestUpdate_ofStatedPaths(t *testing.T) {
	for _, c := range []struct {
		what   string
		change plan.Change
		want   string // where the row 2 goes, "" if it stays
		err    error
	}{
		{"nothing new", plan.Change{Name: as("b"), Parent: as[any](1), Path: "/old/b"}, "", nil},
		{"another name", plan.Change{Name: as("z"), Parent: as[any](1), Path: "/old/b"}, "/a/z", nil},
		{"another name of a row that was renamed", plan.Change{Name: as("z"), Parent: as[any](1), Path: "/a/old"}, "", pathlock.ErrPathChanged},
		{"another name and the new path", plan.Change{Name: as("z"), Parent: as[any](1), Path: "/a/z"}, "", pathlock.ErrPathChanged},
		{"another parent", plan.Change{Name: as("b"), Parent: as[any](4), Path: "/old/b"}, "", pathlock.ErrPathChanged},
		{"a rename to the path", plan.Change{Name: as("z"), Path: "/a/z"}, "/a/z", nil},
		{"a rename to another path", plan.Change{Name: as("z"), Path: "/q"}, "", pathlock.ErrPathChanged},
		{"a move to the path", plan.Change{Parent: as[any](4), Path: "/d/b"}, "/d/b", nil},
		{"its own key", plan.Change{Key: 2}, "", nil},
		{"a name that is too long", plan.Change{Name: as("0123456789")}, "", fault.ErrPathTooLong},
	} {
		g, hit, got := newGrove(), plan.NewHits(), ""
		hit.Live[2] = g.row(2)
		err := g.nodes.CheckChange(&c.change, hit)
		if err == nil {
			var x *plan.Effect
			if x, err = g.nodes.Update(&c.change, hit, g.live()); err == nil && len(x.Moves) > 0 {
				got = x.Moves[0].After.Path
			}
		}
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v, want %q, %v", c.what, got, err, c.want, c.err)
		}
		if errors.Is(err, pathlock.ErrPathChanged) && !strings.HasSuffix(err.Error(), ": state the path that the row has, or none") {
			t.Errorf("%s: the error does not say what to write: %v", c.what, err)
		}
	}
}

// Rows that were read one after another may disagree about what is above them. Where they agree on
// a path of ids that is damaged, all of it is mended.
func TestUpdate_ofRowsWhosePathsDisagree(t *testing.T) {
	s := &plan.Shape{TableName: "s", Namespace: "s", BothPaths: true, MaxDepth: 9}
	s.Above = s
	hit := plan.NewHits()
	hit.Live[1] = &plan.Node{ID: 1, Name: "a", Path: "/a", IDs: "/9/1", Tree: "t"}
	hit.Live[3] = &plan.Node{ID: 3, Name: "a", Path: "/a/b/a", IDs: "/8/2/3", Tree: "t", Parent: 2}
	parents := maps.Clone(hit.Live)
	parents[2] = &plan.Node{ID: 2, Name: "b", Path: "/a/b", IDs: "/8/2", Tree: "t", Parent: 1}
	if _, err := s.Update(&plan.Change{Name: as("z")}, hit, parents); !errors.Is(err, pathlock.ErrPathChanged) {
		t.Errorf("got %v", err)
	}
	hit.Live[3].IDs, parents[2].IDs = "/9/1/2/3", "/9/1/2"
	if x, err := s.Update(&plan.Change{Name: as("z")}, hit, parents); err != nil || x.Moves[1].After.IDs != "/1/2/3" {
		t.Errorf("the moves %+v, %v", x.Moves, err)
	}
}

func TestPathsOfIDs(t *testing.T) {
	alone := &plan.Shape{TableName: "a", Namespace: "a", ByIDs: true, MaxDepth: 9, PathRoom: plan.Room{Column: "path", Size: 25}}
	beside := &plan.Shape{TableName: "b", Namespace: "b", BothPaths: true, MaxDepth: 9, IDsRoom: plan.Room{Column: "ids", Size: 25}}
	alone.Above, beside.Above = alone, beside
	above := map[any]*plan.Node{7: {ID: 7, Name: "g", Path: "/7", IDs: "/7", Tree: "t"}}
	for _, c := range []struct {
		id   any
		want string
		err  error
	}{
		{8, "/7/8", nil},
		{nil, "/7/", nil}, // the database gives one
		{"k", "/7/k", nil},
		{"a/b", "", pathlock.ErrInvalidPath},
		{strings.Repeat("k", 30), "", fault.ErrPathTooLong},
	} {
		for _, s := range []*plan.Shape{alone, beside} {
			n := &plan.Node{ID: c.id, Name: "n", Parent: 7}
			x, _, err := s.Insert([]*plan.Arrival{{Node: n}}, above)
			if !errors.Is(err, c.err) {
				t.Fatalf("%s: %v: got the error %v, want %v", s.TableName, c.id, err, c.err)
			}
			if err != nil {
				continue
			}
			got, slot := n.Path, "t X/7/n"
			if s == beside {
				got = n.IDs
			}
			if got != c.want || locks(x) != slot || treetable.LacksID(got) != (c.id == nil) {
				t.Errorf("%s: %v: got %q, which locks %s", s.TableName, c.id, got, locks(x))
			}
		}
	}
	above[7].Path, above[7].IDs = "/70000", "/70000"
	for _, s := range []*plan.Shape{alone, beside} {
		// A key that the database gives may have twenty digits.
		if _, _, err := s.Insert([]*plan.Arrival{{Node: &plan.Node{Name: "n", Parent: 7}}}, above); !errors.Is(err, fault.ErrPathTooLong) {
			t.Errorf("%s: got the error %v", s.TableName, err)
		}
	}
}

func TestDiffers(t *testing.T) {
	g := newGrove()
	plans := make(map[string]*plan.Effect)
	elsewhere := g.rows(2)
	elsewhere[2].Path = "/z"
	for what, u := range map[string]struct {
		to   any
		rows map[any]*plan.Node
	}{"b to /d": {4, g.rows(2)}, "b to the top": {nil, g.rows(2)}, "c to /d": {4, g.rows(3)}, "b and c to /d": {4, g.rows(2, 3)}, "b from elsewhere to /d": {4, elsewhere}} {
		var err error
		plans[what], err = g.nodes.Update(&plan.Change{Parent: &u.to}, plan.Hits{Live: u.rows}, g.live())
		testerr.Must(t, err)
	}
	for planned, x := range plans {
		for actual, y := range plans {
			// A row that somebody else has moved there already needs no lock.
			fewer := planned == "b and c to /d" && (actual == "b to /d" || actual == "c to /d")
			// Where a row is no longer, what lies below is not found.
			same := planned == actual && actual != "b from elsewhere to /d"
			if err := x.Differs(y, g.live()); (err == nil) != (same || fewer) || err != nil && !errors.Is(err, pathlock.ErrPathChanged) {
				t.Errorf("planned %s, then %s: got the error %v", planned, actual, err)
			}
		}
	}
}

func TestSameAs(t *testing.T) {
	changes := []plan.Change{
		{}, {Name: as("a")}, {Name: as("b")}, {Parent: as[any](nil)}, {Parent: as[any](1)}, {Parent: as[any](2)}, {Name: as("a"), Parent: as[any](1)},
		{Key: 1}, {Tree: "t"}, {Path: "/a"}, {IDs: "/1"}, {Restores: true},
	}
	for i, a := range changes {
		for j, b := range changes {
			if b.Name != nil {
				b.Name = as(*b.Name) // another pointer to the same
			}
			if b.Parent != nil {
				b.Parent = as(*b.Parent)
			}
			if a.SameAs(&b) != (i == j) {
				t.Errorf("%+v and %+v: same is %t", a, b, i != j)
			}
		}
	}
}

func TestChainsSayWhereARowIs(t *testing.T) {
	g := newGrove()
	for _, c := range []struct {
		what   string
		change func(rows map[any]*plan.Node)
		want   *fault.PathChangedError
	}{
		{"nothing", func(map[any]*plan.Node) {}, nil},
		{"it has moved", func(rows map[any]*plan.Node) { rows[3].Path = "/d/c" }, &fault.PathChangedError{ID: 3, Planned: "/a/b/c", Actual: "/d/c"}},
		{"its ids have changed", func(rows map[any]*plan.Node) { rows[3].IDs = "/4/3" }, &fault.PathChangedError{ID: 3, Planned: "", Actual: "/4/3"}},
		{"it has changed trees", func(rows map[any]*plan.Node) { rows[3].Tree = "u" }, &fault.PathChangedError{ID: 3, Planned: "/a/b/c", Actual: "/a/b/c"}},
		{"a path above does not follow", func(rows map[any]*plan.Node) { rows[1].Path = "/z" }, &fault.PathChangedError{ID: 2, Planned: "/a/b", Actual: "/z/b"}},
		{"it is gone", func(rows map[any]*plan.Node) { delete(rows, 3) }, &fault.PathChangedError{ID: 3, Planned: "/a/b/c"}},
		{"what is above is gone", func(rows map[any]*plan.Node) { delete(rows, 1) }, &fault.PathChangedError{ID: 3, Planned: "/a/b/c"}},
		{"what is above is in another tree", func(rows map[any]*plan.Node) { rows[1].Tree = "u" }, &fault.PathChangedError{ID: 3, Planned: "/a/b/c"}},
	} {
		rows := g.live()
		chains := g.nodes.Chains([]*plan.Node{g.row(3)}, rows, []any{2})
		if asked := chains.Next(); len(asked) != 2 || slices.Contains(asked, any(2)) {
			t.Errorf("%s: asked for %v", c.what, asked)
		}
		c.change(rows)
		chains.Found(maps.Values(rows))
		err := chains.Check()
		if c.want != nil {
			c.want.Table = "suites"
		}
		if changed, _ := errors.AsType[*fault.PathChangedError](err); !reflect.DeepEqual(changed, c.want) {
			t.Errorf("%s: got the error %v, want %v", c.what, err, c.want)
		}
	}
}

// A path can have no more names than [pathlock.MaxDepth]: what lies deeper is too deep, and neither
// an invalid name nor a damaged row.
func TestTooDeepForAnyPath(t *testing.T) {
	g := newGrove()
	at := strings.Repeat("/a", pathlock.MaxDepth)
	deepest := &plan.Node{ID: 500, Tree: "t", Name: "a", Path: at, Parent: 3}
	rows := g.live()
	rows[deepest.ID] = deepest
	to := deepest.ID
	for what, work := range map[string]func() error{
		"an insert": func() error {
			_, _, err := g.nodes.Insert([]*plan.Arrival{{Node: &plan.Node{Name: "n", Parent: deepest.ID}}}, rows)
			return err
		},
		"a move": func() error {
			_, err := g.nodes.Update(&plan.Change{Parent: &to}, plan.Hits{Live: g.rows(4)}, rows)
			return err
		},
		"a copy": func() error {
			_, err := g.nodes.Copy(rows[4], deepest, "", false)
			return err
		},
	} {
		deep, ok := errors.AsType[*fault.TooDeepError](work())
		if !ok || deep.Depth != pathlock.MaxDepth+1 {
			t.Errorf("%s: %v", what, deep)
		}
	}
}

// A chain that an arrangement makes longer than any path can be is too deep, and no cycle.
func TestUpdate_tellsDepthFromCycles(t *testing.T) {
	s := &plan.Shape{TableName: "s", Namespace: "s", MaxDepth: pathlock.MaxDepth}
	s.Above = s
	for _, circle := range []bool{false, true} {
		rows, parents := make(map[any]*plan.Node), make(map[any]any)
		const rowCount = 3 * pathlock.MaxDepth
		for id := range rowCount {
			rows[id] = &plan.Node{ID: id, Tree: "t", Name: fmt.Sprint(id), Path: fmt.Sprintf("/%d", id)}
			if parents[id] = id - 1; id == 0 {
				parents[id] = nil
			}
		}
		want := fault.ErrPathTooLong
		if circle {
			parents[0], want = rowCount-1, fault.ErrWouldCycle
		}
		_, err := s.Update(&plan.Change{Parents: parents}, plan.Hits{Live: rows}, rows)
		if row, named := errors.AsType[*fault.RowError](err); !named || !errors.Is(err, want) || circle && parents[row.ID] == nil {
			t.Errorf("in a circle %v: %v", circle, err)
		}
	}
}

func TestInsert_explainsAnInvalidPath(t *testing.T) {
	for _, c := range []struct {
		leaf bool
		form treetable.Form
		row  plan.Node
		path string // as the caller wrote it
		want string
	}{
		{false, treetable.Form{Separator: "/", Trail: "/", OfParent: true}, plan.Node{Name: "n", Tree: "t"}, "a/b", `the path "a/b" says no parent: pathlock: invalid path: "a/b" is not in the form parent:*/*/`},
		{false, treetable.Form{Separator: "/", Trail: "/", OfParent: true}, plan.Node{Name: "n", Tree: "t"}, "a//b/", `the path "a//b/" says no parent: pathlock: invalid path: "/a//b": empty name`},
		{false, treetable.DefaultForm, plan.Node{Name: "n", Tree: "t"}, "/a/x", `the path "/a/x" of a new row does not end in its name, "n"`},
		{false, treetable.DefaultForm, plan.Node{Name: "n"}, "/a/n", `states the path "/a/n" instead of its parent, but no tree`},
		{true, treetable.DefaultForm, plan.Node{Name: "n"}, "/a/n", "a path says it only if the tree's table has no tree column"},
	} {
		g := newGrove()
		s := g.nodes
		if c.leaf {
			s = g.leaves
		}
		s.PathForm = c.form
		row := &plan.Arrival{Node: &c.row, Stated: c.form.Read(c.path), StatedTree: c.row.Tree}
		s.ReadPath(row)
		if _, _, err := s.Insert([]*plan.Arrival{row}, g.live()); !errors.Is(err, fault.ErrMisplaced) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.path, err, c.want)
		}
	}
}
