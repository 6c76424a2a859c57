package plan_test

import (
	"errors"
	"fmt"
	"maps"
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

// grove is a tree, t, of the rows 1 /a, 2 /a/b, 3 /a/b/c and 4 /d, with the deleted rows 5 /a/e and
// 6 /f; a tree u with a root row, 7, and 8 /x below it; and, in the other table, the leaves 9 and
// 10 below 2, and 11, whose parent is deleted. 12 and 13 are below 3, one deeper than is allowed,
// and so is the deleted 14. 15 and 16 are deleted root rows, and 17 has a name that none can have.
type grove struct{ nodes, leaves *plan.Shape }

func newGrove() grove {
	g := grove{
		&plan.Shape{TableName: "suites", Namespace: "suites", MaxDepth: 4, NameRoom: plan.Room{Column: "name", Size: 9}, PathRoom: plan.Room{Column: "path", Size: 30}},
		&plan.Shape{TableName: "cases", MaxDepth: pathlock.MaxDepth},
	}
	g.nodes.Above, g.leaves.Above = g.nodes, g.nodes
	return g
}

func (g grove) row(id int) *plan.Node {
	one, two, five, seven := any(1), any(2), any(5), any(7)
	return map[int]*plan.Node{
		1: {ID: 1, Name: "a", Path: "/a", Tree: "t"}, 2: {ID: 2, Name: "b", Path: "/a/b", Tree: "t", Parent: one}, 3: {ID: 3, Name: "c", Path: "/a/b/c", Tree: "t", Parent: two},
		4: {ID: 4, Name: "d", Path: "/d", Tree: "t"}, 5: {ID: 5, Name: "e", Path: "/a/e", Tree: "t", Parent: one}, 6: {ID: 6, Name: "f", Path: "/f", Tree: "t"},
		7: {ID: 7, Path: "", Tree: "u"}, 8: {ID: 8, Name: "x", Path: "/x", Tree: "u", Parent: seven},
		12: {ID: 12, Name: "o", Path: "/a/b/c/o", Tree: "t", Parent: any(3)}, 13: {ID: 13, Name: "p", Path: "/a/b/c/o/p", Tree: "t", Parent: any(12)},
		14: {ID: 14, Name: "q", Path: "/a/b/c/o/q", Tree: "t", Parent: any(12)},
		15: {ID: 15, Tree: "v"}, 16: {ID: 16, Tree: "u"}, 17: {ID: 17, Name: "y/z", Path: "/y/z", Tree: "t"},
		9: {ID: 9, Name: "i", Parent: two}, 10: {ID: 10, Name: "j", Parent: two}, 11: {ID: 11, Name: "k", Parent: five},
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
func (g grove) live() map[any]*plan.Node { return g.rows(1, 2, 3, 4, 7, 8, 12, 13) }

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

// update is an update of rows by their ids; negative ones are deleted, and those from 9 on leaves.
type update struct {
	change plan.Change
	rows   []int
}

func (g grove) update(u update) (string, error) {
	hit := plan.NewHits()
	s := g.nodes
	for _, id := range u.rows {
		if n := g.row(max(id, -id)); id < 0 {
			hit.Dead[n.ID] = n
		} else {
			hit.Live[n.ID] = n
		}
		if id >= 9 && id < 12 {
			s = g.leaves
		}
	}
	if err := s.CheckChange(&u.change, hit); err != nil {
		return "", err
	}
	above := g.live()
	if s == g.nodes {
		maps.Copy(above, u.change.Affected(hit))
	}
	x, err := s.Update(&u.change, hit, above)
	if err != nil {
		return "", err
	}
	var moves, chains, tops []string
	for _, m := range x.Moves {
		moves = append(moves, fmt.Sprintf("%v to %s v%d carries:%t deeper:%d", m.ID, m.Path, m.After().Version, m.Rewrites(), m.Deeper()))
	}
	for _, n := range x.Chains {
		chains = append(chains, fmt.Sprint(n.ID))
	}
	for _, l := range x.Landings.AtTops() {
		tops = append(tops, fmt.Sprintf("%s: %d of %d, root:%t", l.Domain.ID(), l.AtTop, l.Rows, l.Root))
	}
	slices.Sort(moves)
	slices.Sort(chains)
	// What the same plan says under locks differs in nothing; where the rows above are not locked,
	// it does.
	if err := x.Differs(x.On(), above); err != nil {
		return "", err
	}
	if err := x.Differs(x.On(), nil); (err != nil) != (len(chains) > 0) {
		return "", fmt.Errorf("without locks: %w", err)
	}
	return strings.Join([]string{strings.Join(moves, "; "), locks(x), strings.Join(slices.Compact(chains), " "), strings.Join(tops, " ")}, " | "), nil
}

func TestUpdate(t *testing.T) {
	rename := func(name string) plan.Change { return plan.Change{Name: &name} }
	move := func(parent any) plan.Change { return plan.Change{Parent: &parent} }
	save := func(name string, parent any, path string) plan.Change {
		return plan.Change{Name: &name, Parent: &parent, Path: path}
	}
	for _, c := range []struct {
		what string
		do   update
		want string // or a part of the error's text
		err  error
	}{
		{"a rename", update{rename("z"), []int{2}}, "2 to /a/z v1 carries:true deeper:0 | t X/a/b, t X/a/z | 1 | ", nil},
		{"a move", update{move(4), []int{2}}, "2 to /d/b v1 carries:true deeper:0 | t X/a/b, t X/d/b | 1 4 | ", nil},
		{"a move to the top", update{move(nil), []int{2}}, "2 to /b v1 carries:true deeper:-1 | t X/a/b, t X/b | 1 | t: 1 of 1, root:false", nil},
		{"a row and one below it to the same parent", update{move(4), []int{2, 3}}, "2 to /d/b v1 carries:true deeper:0; 3 to /d/c v1 carries:true deeper:-1 | t X/a/b, t X/d/b, t X/d/c | 1 2 4 | ", nil},
		{"nothing new", update{save("b", 1, "/a/b"), []int{2}}, " |  |  | ", nil},
		{"a Save whose path is outdated", update{save("b", 1, "/old/b"), []int{2}}, " |  |  | ", nil},
		{"a Save with another name and an outdated path", update{save("z", 1, "/old/b"), []int{2}}, "2 to /a/z v1 carries:true deeper:0 | t X/a/b, t X/a/z | 1 | ", nil},
		{"a Save with another name of a row that was renamed", update{save("z", 1, "/a/old"), []int{2}}, "", pathlock.ErrPathChanged},
		{"a Save with another parent and an outdated path", update{save("b", 4, "/old/b"), []int{2}}, "", pathlock.ErrPathChanged},
		{"a Save with another name and the new path", update{save("z", 1, "/a/z"), []int{2}}, "", pathlock.ErrPathChanged},
		{"a rename that states the new path", update{plan.Change{Name: as("z"), Path: "/a/z"}, []int{2}}, "2 to /a/z v1 carries:true deeper:0 | t X/a/b, t X/a/z | 1 | ", nil},
		{"a move that states the new path", update{plan.Change{Parent: as[any](4), Path: "/d/b"}, []int{2}}, "2 to /d/b v1 carries:true deeper:0 | t X/a/b, t X/d/b | 1 4 | ", nil},
		{"a rename that states another path", update{plan.Change{Name: as("z"), Path: "/q"}, []int{2}}, "", pathlock.ErrPathChanged},
		{"another tree", update{plan.Change{Tree: "u"}, []int{2}}, "", fault.ErrMisplaced},
		{"a parent in another tree", update{move(8), []int{2}}, "", fault.ErrMisplaced},
		{"below itself", update{move(2), []int{2}}, "", fault.ErrWouldCycle},
		{"below a descendant", update{move(3), []int{1}}, "", fault.ErrWouldCycle},
		{"below a row that is not there", update{move(99), []int{2}}, "suites 99", pathlock.ErrNotFound},
		{"a row whose name none can be", update{move(4), []int{17}}, "", fault.ErrDamagedRow},
		{"a root row's name", update{rename("z"), []int{7}}, "", fault.ErrMisplaced},
		{"a name that none can be", update{rename("a/b"), []int{2}}, "", pathlock.ErrInvalidPath},
		{"a name that is too long", update{rename("0123456789"), []int{2}}, "", fault.ErrPathTooLong},
		{"a name of the column's length", update{rename("012345678"), []int{4}}, "4 to /012345678 v1 carries:true deeper:0 | t X/012345678, t X/d |  | ", nil},
		{"too deep", update{move(3), []int{4}}, "4 to /a/b/c/d v1 carries:true deeper:3 | t X/a/b/c/d, t X/d | 3 | ", nil},
		{"no name", update{rename(""), []int{2}}, "", pathlock.ErrInvalidPath},
		{"no name at the top", update{rename(""), []int{4}}, "", pathlock.ErrInvalidPath},
		{"a row that is too deep already", update{rename("z"), []int{13}}, "13 to /a/b/c/o/z v1 carries:true deeper:0 | t X/a/b/c/o/p, t X/a/b/c/o/z | 12 | ", nil},
		{"deeper than allowed", update{move(12), []int{4}}, "", fault.ErrPathTooLong},
		{"a restored row that is too deep", update{plan.Change{Restores: true}, []int{-14}}, "", fault.ErrPathTooLong},
		{"a row and one further below", update{rename("z"), []int{1, 3}}, "1 to /z v1 carries:true deeper:0; 3 to /z/b/z v1 carries:true deeper:0 | t X/a, t X/z | 2 | ", nil},
		{"another key", update{plan.Change{Key: 3}, []int{2}}, "", fault.ErrUnsupported},
		{"its own key", update{plan.Change{Key: 2}, []int{2}}, " |  |  | ", nil},
		{"a restored row", update{plan.Change{Restores: true}, []int{-5}}, "5 to /a/e v1 carries:false deeper:0 | t X/a/e | 1 | ", nil},
		{"a restored row at the top", update{plan.Change{Restores: true}, []int{-6}}, "6 to /f v1 carries:false deeper:0 | t X/f |  | t: 1 of 1, root:false", nil},
		{"a restored root row", update{plan.Change{Restores: true}, []int{-15}}, "15 to  v1 carries:false deeper:0 | v X/ |  | v: 1 of 1, root:true", nil},
		{"a restored row below one of another tree", update{plan.Change{Restores: true, Parent: as[any](1)}, []int{-15}}, "", fault.ErrMisplaced},
		{"a restored root row below another", update{plan.Change{Restores: true, Parent: as[any](8)}, []int{-16}}, "", fault.ErrMisplaced},
		{"a restored root row below another, with a name", update{plan.Change{Restores: true, Name: as("z"), Parent: as[any](8)}, []int{-16}}, "16 to /x/z v1 carries:false deeper:2 | u X/x/z | 8 | ", nil},
		{"a deleted row that stays deleted", update{rename("z"), []int{-5}}, " |  |  | ", nil},
		{"a leaf's name", update{rename("z"), []int{9}}, "9 to /a/b/z v1 carries:true deeper:0 | t X/a/b/i, t X/a/b/z | 2 | ", nil},
		{"a leaf's parent", update{move(8), []int{9}}, "", fault.ErrMisplaced},
		{"a leaf moves", update{move(4), []int{9, 10}}, "10 to /d/j v1 carries:true deeper:-1; 9 to /d/i v1 carries:true deeper:-1 | t X/a/b/i, t X/a/b/j, t X/d/i, t X/d/j | 2 4 | ", nil},
		{"a leaf to the top", update{move(nil), []int{9}}, "", fault.ErrMisplaced},
		{"a leaf whose parent is deleted, in place", update{save("k", 5, ""), []int{11}}, " |  |  | ", nil},
		{"a leaf whose parent is deleted moves", update{move(4), []int{11}}, "once its parent is restored", pathlock.ErrNotFound},
		{"a leaf's key", update{plan.Change{Key: 12}, []int{9}}, " |  |  | ", nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, err := newGrove().update(c.do)
			if err != nil && strings.Contains(err.Error(), c.want) {
				got = c.want
			}
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got  %q, %v\nwant %q, %v", got, err, c.want, c.err)
			}
		})
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
	if x, err := s.Update(&plan.Change{Name: as("z")}, hit, parents); err != nil || x.Moves[1].IDs != "/1/2/3" {
		t.Errorf("the moves %+v, %v", x.Moves, err)
	}
}

func TestInsert(t *testing.T) {
	for _, c := range []struct {
		what string
		leaf bool
		row  plan.Node
		path string // that the caller states
		want string
		err  error
	}{
		{"below a row", false, plan.Node{Name: "n", Parent: 2}, "", "/a/b/n | t X/a/b/n | 2 | ", nil},
		{"at the top", false, plan.Node{Name: "n", Tree: "t"}, "/n", "/n | t X/n |  | t false", nil},
		{"a root row", false, plan.Node{Tree: "v"}, "", " | v X/ |  | v true", nil},
		{"no tree", false, plan.Node{Name: "n"}, "", "", pathlock.ErrInvalidTree},
		{"another tree than the parent's", false, plan.Node{Name: "n", Tree: "u", Parent: 2}, "", "", fault.ErrMisplaced},
		{"another path, and no parent", false, plan.Node{Name: "n", Tree: "t"}, "/a/n", "", fault.ErrMisplaced},
		{"another path than the parent's", false, plan.Node{Name: "n", Parent: 2}, "/n", "/a/b/n | t X/a/b/n | 2 | ", nil},
		{"no name below a row", false, plan.Node{Parent: 2}, "", "", pathlock.ErrInvalidPath},
		{"no such parent", false, plan.Node{Name: "n", Parent: 99}, "", "", pathlock.ErrNotFound},
		{"too long", false, plan.Node{Name: "0123456789", Tree: "t"}, "", "", fault.ErrPathTooLong},
		{"the deepest", false, plan.Node{Name: "n", Parent: 3}, "", "/a/b/c/n | t X/a/b/c/n | 3 | ", nil},
		{"deeper than allowed", false, plan.Node{Name: "n", Parent: 12}, "", "", fault.ErrPathTooLong},
		{"a leaf", true, plan.Node{Name: "n", Parent: 2, Tree: "u"}, "", "/a/b/n | t X/a/b/n | 2 | ", nil},
		{"a leaf at the top", true, plan.Node{Name: "n"}, "", "", fault.ErrMisplaced},
	} {
		t.Run(c.what, func(t *testing.T) {
			g := newGrove()
			s := g.nodes
			if c.leaf {
				s = g.leaves
			}
			rows := []*plan.Arrival{{Node: &c.row, Stated: c.path, StatedTree: c.row.Tree}}
			x, err := s.Insert(rows, g.live())
			got := ""
			if err == nil {
				parents, tops := "", ""
				for _, n := range x.Parents {
					parents += fmt.Sprint(n.ID)
				}
				for _, l := range s.LandingsOf(rows).AtTops() {
					tops += fmt.Sprint(l.Domain.ID(), " ", l.Root)
				}
				got = strings.Join([]string{c.row.Path, locks(x), parents, tops}, " | ")
			}
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got  %q, %v\nwant %q, %v", got, err, c.want, c.err)
			}
		})
	}
}

func TestDelete_andCopy(t *testing.T) {
	g := newGrove()
	hit := plan.Hits{Live: g.rows(9, 10, 11)}
	x, err := g.leaves.Delete(hit, g.live())
	if err != nil || len(x.Tops) != 3 || locks(x) != "t X/a/b/i, t X/a/b/j" || len(hit.Outside(true)) != 3 {
		t.Errorf("leaves: %v, %s, %v", x, locks(x), err)
	}
	hit = plan.Hits{Live: g.rows(2, 3, 4)}
	if x, err = g.nodes.Delete(hit, g.live()); err != nil || len(x.Tops) != 2 || locks(x) != "t X/a/b, t X/d" || len(hit.Outside(false)) != 2 || len(x.Chains) != 1 {
		t.Errorf("nodes: %v, %s, %v", x, locks(x), err)
	}
	testerr.None(t, x.Differs(x.On(), g.rows(1)))
	testerr.Is(t, "without locks", x.Differs(x.On(), nil), pathlock.ErrPathChanged)
	for _, c := range []struct {
		what          string
		shape         *plan.Shape
		source, above *plan.Node
		name          string
		snapshot      bool
		want          string
		err           error
	}{
		{"below another row", g.nodes, g.row(2), g.row(4), "", false, "/d/b | t S/a/b, t X/d/b", nil},
		{"under another name", g.nodes, g.row(2), g.row(1), "z", false, "/a/z | t S/a/b, t X/a/z", nil},
		{"of one instant", g.nodes, g.row(2), g.row(4), "", true, "/d/b | t X/d/b", nil},
		{"to the top", g.nodes, g.row(2), nil, "", true, "/b | t X/b", nil},
		{"to another tree", g.nodes, g.row(2), g.row(8), "", false, "/x/b | t S/a/b, u X/x/b", nil},
		{"to another tree, of one instant", g.nodes, g.row(2), g.row(8), "", true, "/x/b | u X/x/b", nil},
		{"a leaf to the top", g.leaves, g.row(9), nil, "", false, "", fault.ErrMisplaced},
		{"a row whose path is empty", g.nodes, &plan.Node{ID: 1, Name: "a", Tree: "t"}, nil, "z", false, "", fault.ErrDamagedRow},
		{"a name that none can be", g.nodes, g.row(2), nil, "a/b", false, "", pathlock.ErrInvalidPath},
		{"a name that the row has, and none can have", g.nodes, &plan.Node{ID: 1, Name: "a/b", Tree: "t", Path: "/a/b"}, nil, "", false, "", fault.ErrDamagedRow},
		{"a root row, without a name", g.nodes, g.row(7), g.row(8), "", false, "", pathlock.ErrInvalidPath},
		{"too deep", g.nodes, g.row(2), &plan.Node{ID: 12, Name: "n", Tree: "t", Path: "/a/b/c/n"}, "", false, "", fault.ErrPathTooLong},
	} {
		t.Run(c.what, func(t *testing.T) {
			x, err := c.shape.Copy(c.source, c.above, c.name, c.snapshot)
			got := ""
			if err == nil {
				got = x.After.Path + " | " + locks(x)
			}
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got  %q, %v\nwant %q, %v", got, err, c.want, c.err)
			}
		})
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
			x, err := s.Insert([]*plan.Arrival{{Node: n}}, above)
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
			if got != c.want || locks(x) != slot || plan.LacksID(got) != (c.id == nil) {
				t.Errorf("%s: %v: got %q, which locks %s", s.TableName, c.id, got, locks(x))
			}
		}
	}
	above[7].Path, above[7].IDs = "/70000", "/70000"
	for _, s := range []*plan.Shape{alone, beside} {
		// A key that the database gives may have twenty digits.
		if _, err := s.Insert([]*plan.Arrival{{Node: &plan.Node{Name: "n", Parent: 7}}}, above); !errors.Is(err, fault.ErrPathTooLong) {
			t.Errorf("%s: got the error %v", s.TableName, err)
		}
	}
	// Below a root row, a row keeps its path of names, and those below get new ones of ids.
	above[7] = &plan.Node{ID: 7, IDs: "/7", Tree: "t"}
	top := map[any]*plan.Node{8: {ID: 8, Name: "n", Path: "/n", IDs: "/8", Tree: "t"}}
	x, err := beside.Update(&plan.Change{Parent: as[any](7)}, plan.Hits{Live: top}, above)
	if err != nil || len(x.Moves) != 1 || !x.Moves[0].Rewrites() || x.Moves[0].IDs != "/7/8" {
		t.Errorf("below a root row: %+v, %v", x, err)
	}
}

func TestDiffers(t *testing.T) {
	g := newGrove()
	plans := make(map[string]*plan.Relocation)
	for what, u := range map[string]update{
		"b to /d": {plan.Change{Parent: as[any](4)}, []int{2}}, "b to the top": {plan.Change{Parent: as[any](nil)}, []int{2}},
		"c to /d": {plan.Change{Parent: as[any](4)}, []int{3}}, "b and c to /d": {plan.Change{Parent: as[any](4)}, []int{2, 3}},
	} {
		var err error
		if plans[what], err = g.nodes.Update(&u.change, plan.Hits{Live: g.rows(u.rows...)}, g.live()); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := g.rows(2)
	elsewhere[2].Path = "/z"
	var err error
	if plans["b from elsewhere to /d"], err = g.nodes.Update(&plan.Change{Parent: as[any](4)}, plan.Hits{Live: elsewhere}, g.live()); err != nil {
		t.Fatal(err)
	}
	for planned, x := range plans {
		for actual, y := range plans {
			// What no longer moves, as somebody else has moved it, needs no lock.
			fewer := planned == "b and c to /d" && (actual == "b to /d" || actual == "c to /d")
			if err := x.Differs(y.On(), g.live()); (err == nil) != (planned == actual || fewer) || err != nil && !errors.Is(err, pathlock.ErrPathChanged) {
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
		actual string
	}{
		{"nothing", func(map[any]*plan.Node) {}, ""},
		{"it has moved", func(rows map[any]*plan.Node) { rows[3].Path = "/d/c" }, "/d/c"},
		{"it has changed trees", func(rows map[any]*plan.Node) { rows[3].Tree = "u" }, "/a/b/c"},
		{"its path does not follow", func(rows map[any]*plan.Node) { rows[1].Path = "/z" }, "/z/b"},
		{"it is gone", func(rows map[any]*plan.Node) { delete(rows, 3) }, ""},
		{"what is above is gone", func(rows map[any]*plan.Node) { delete(rows, 1) }, ""},
		{"what is above is in another tree", func(rows map[any]*plan.Node) { rows[1].Tree = "u" }, ""},
	} {
		rows := g.live()
		chains := g.nodes.Chains([]*plan.Node{g.row(3)}, rows, []any{2})
		if asked := chains.Next(); len(asked) != 2 || slices.Contains(asked, any(2)) {
			t.Errorf("%s: asked for %v", c.what, asked)
		}
		c.change(rows)
		chains.Found(maps.Values(rows))
		err := chains.Check()
		changed, ok := errors.AsType[*fault.PathChangedError](err)
		if ok == (c.what == "nothing") || ok && (changed.Actual != c.actual || changed.Planned != "/a/b/c") {
			t.Errorf("%s: got the error %v", c.what, err)
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
			_, err := g.nodes.Insert([]*plan.Arrival{{Node: &plan.Node{Name: "n", Parent: deepest.ID}}}, rows)
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

func TestInsert_namesWhatIsWrongWithAPath(t *testing.T) {
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
		{false, treetable.DefaultForm, plan.Node{Name: "n"}, "/a/n", `states the path "/a/n" instead of its parent, and no tree`},
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
		if _, err := s.Insert([]*plan.Arrival{row}, g.live()); !errors.Is(err, fault.ErrMisplaced) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.path, err, c.want)
		}
	}
}
