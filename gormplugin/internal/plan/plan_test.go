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
	"pgregory.net/rapid"
)

// forest is the tree table that the plans are held against: rows know their parents and names, and
// where they are follows from that alone. Paths of the rows are what the plans have made of them.
type forest struct {
	shape *plan.Shape
	rows  map[any]*plan.Node // the live ones and the dead ones
	dead  map[any]bool
	last  int64
}

func newForest() *forest {
	s := &plan.Shape{TableName: "suites", Namespace: "suites", BothPaths: true, MaxDepth: 6, PathRoom: plan.Room{Column: "path", Size: 60}}
	s.Above = s
	return &forest{shape: s, rows: make(map[any]*plan.Node), dead: make(map[any]bool)}
}

// live returns copies of the live rows, as a database would return them.
func (f *forest) live() map[any]*plan.Node {
	found := make(map[any]*plan.Node)
	for id, n := range f.rows {
		if !f.dead[id] {
			row := *n
			found[id] = &row
		}
	}
	return found
}

// places returns where live rows are by their parents and names; false where these lead nowhere or
// in a circle.
func places(rows map[any]*plan.Node) (paths, idPaths map[any]string, ok bool) {
	paths, idPaths = make(map[any]string), make(map[any]string)
	for id := range rows {
		path, keys := "", ""
		steps := 0
		for at := id; at != nil; at = rows[at].Parent {
			if rows[at] == nil || steps > len(rows) {
				return nil, nil, false
			}
			path, keys = "/"+rows[at].Name+path, fmt.Sprintf("/%v%s", at, keys)
			steps++
		}
		paths[id], idPaths[id] = path, keys
	}
	return paths, idPaths, true
}

// someID draws the id of a row, dead and missing ones included, or nil.
func (f *forest) someID(t *rapid.T, label string) any {
	if n := rapid.Int64Range(0, f.last+1).Draw(t, label); n > 0 {
		return n
	}
	return nil
}

// newName makes a name that no other row has, most of them fit for a path.
func (f *forest) newName(t *rapid.T) string {
	f.last++ // also the next key
	form := rapid.SampledFrom([]string{"a%d", "a%d", "a%d-b", "ä%d", "%d%%_", "", "a/%d"}).Draw(t, "form")
	if strings.Contains(form, "%d") {
		return fmt.Sprintf(form, f.last)
	}
	return form
}

// covered fails unless the claims keep everybody else from a path.
func covered(t *rapid.T, d plan.Demand, path string) {
	for _, r := range d.Requests("", time.Second) {
		for _, c := range r.Claims {
			if c.Mode == pathlock.ModeX && c.Path.Contains(pathlock.MustParsePath(path)) {
				return
			}
		}
	}
	t.Fatalf("nothing locks %q", path)
}

// refused fails unless an error says why rows cannot be as they would be.
func (f *forest) refused(t *rapid.T, err error, after map[any]*plan.Node, because ...error) {
	paths, _, ok := places(after)
	fits := ok
	for id, path := range paths {
		parsed, invalid := pathlock.ParsePath(path)
		name := after[id].Name
		fits = fits && invalid == nil && name != "" && !strings.Contains(name, "/") && parsed.Depth() <= f.shape.MaxDepth && len([]rune(path)) <= f.shape.PathRoom.Size
	}
	if fits {
		t.Fatalf("refused, though all is well: %v", err)
	}
	if !slices.ContainsFunc(because, func(target error) bool { return errors.Is(err, target) }) {
		t.Fatalf("refused by %v", err)
	}
}

func (f *forest) insert(t *rapid.T) {
	var rows []*plan.Arrival
	after := f.live()
	for range rapid.IntRange(1, 3).Draw(t, "rows") {
		name := f.newName(t)
		if name == "" {
			name = fmt.Sprint("x", f.last)
		}
		n := &plan.Node{ID: f.last, Name: name, Tree: "t", Parent: f.someID(t, "parent")}
		rows = append(rows, &plan.Arrival{Node: n})
		row := *n
		after[n.ID] = &row
	}
	x, err := f.shape.Insert(rows, f.live())
	if err != nil {
		f.refused(t, err, after, pathlock.ErrNotFound, fault.ErrWouldCycle, pathlock.ErrInvalidPath, fault.ErrPathTooLong)
		return
	}
	for _, row := range rows {
		f.rows[row.ID] = row.Node
		covered(t, x, row.Path)
	}
}

// collide reports whether two rows have one parent and one name, which a unique index would refuse.
func collide(rows map[any]*plan.Node) bool {
	type slot struct {
		parent any
		name   string
	}
	seen := make(map[slot]bool)
	for _, n := range rows {
		at := slot{n.Parent, n.Name}
		if seen[at] {
			return true
		}
		seen[at] = true
	}
	return false
}

// ids returns the ids of rows in the order in which they were made.
func ids(rows map[any]*plan.Node) []any {
	return slices.SortedFunc(maps.Keys(rows), func(a, b any) int { return int(a.(int64) - b.(int64)) })
}

func (f *forest) update(t *rapid.T) {
	live := f.live()
	hit := plan.NewHits()
	change := &plan.Change{}
	restores := rapid.Bool().Draw(t, "restores")
	for _, id := range ids(f.rows) {
		switch {
		case !rapid.Bool().Draw(t, fmt.Sprint("hits ", id)):
		case !f.dead[id]:
			hit.Live[id] = live[id]
		case restores:
			row := *f.rows[id]
			hit.Dead[id] = &row
		}
	}
	change.Restores = restores
	if len(hit.Dead) == 0 && rapid.Bool().Draw(t, "arranges") {
		change.Parents = make(map[any]any)
		for _, id := range ids(hit.Live) {
			change.Parents[id] = f.someID(t, "parent")
		}
	} else if rapid.Bool().Draw(t, "moves") {
		parent := f.someID(t, "parent")
		change.Parent = &parent
	} else if name := f.newName(t); name != "" || !restores {
		change.Name = &name
	}
	affected := change.Affected(hit)
	after := f.live()
	for id, n := range affected {
		row := *n
		row.Parent, row.Name = change.ParentOf(n), change.NameOf(n)
		after[id] = &row
	}
	if collide(after) {
		return
	}
	parents := f.live()
	maps.Copy(parents, affected)
	x, err := f.shape.Update(change, hit, parents)
	if err != nil {
		f.refused(t, err, after, pathlock.ErrNotFound, fault.ErrWouldCycle, pathlock.ErrInvalidPath, fault.ErrPathTooLong)
		return
	}
	// As the statements write it: the rows, and everything below, from the lowest one up.
	slices.SortFunc(x.Moves, func(a, b plan.Move) int { return len(b.Node.Path) - len(a.Node.Path) })
	before := f.live()
	for id, n := range after {
		f.rows[id] = n
		delete(f.dead, id)
		if old := before[id]; old != nil {
			for _, m := range x.Moves {
				if m.Rewrites() && (id == m.ID || strings.HasPrefix(old.Path, m.Node.Path+"/")) {
					n.Path, n.IDs = m.Path+old.Path[len(m.Node.Path):], m.IDs+old.IDs[len(m.Node.IDs):]
					break
				}
			}
		}
		for _, m := range x.Moves {
			if m.ID == id {
				n.Path, n.IDs = m.Path, m.IDs
			}
		}
		if old := before[id]; old == nil || old.Path != n.Path {
			covered(t, x, n.Path)
			if old != nil {
				covered(t, x, old.Path)
			}
		}
	}
	above, locked := make(map[any]bool), make(map[any]bool)
	for _, m := range x.Moves {
		for _, id := range []any{m.Node.Parent, change.ParentOf(m.Node)} {
			if id != nil && (!m.Restored || id == change.ParentOf(m.Node)) && hit.Dead[id] == nil {
				above[id] = true
			}
		}
	}
	for _, n := range x.Chains {
		locked[n.ID] = true
	}
	if !maps.Equal(locked, above) {
		t.Fatalf("locks %v, and %v are above what moves", locked, above)
	}
}

func (f *forest) delete(t *rapid.T) {
	live := f.live()
	hit := plan.NewHits()
	for _, id := range ids(live) {
		if rapid.IntRange(0, 3).Draw(t, fmt.Sprint("hits ", id)) == 0 {
			hit.Live[id] = live[id]
		}
	}
	x, err := f.shape.Delete(hit, live)
	testerr.Must(t, err)
	gone := make(map[any]bool)
	for id, n := range live {
		for _, top := range x.Tops {
			if id == top.ID || strings.HasPrefix(n.Path, top.Path+"/") {
				gone[id] = true
				covered(t, x, n.Path)
			}
		}
	}
	for id := range live {
		below := false
		for at := id; at != nil; at = live[at].Parent {
			below = below || hit.Live[at] != nil
		}
		if below != gone[id] {
			t.Fatalf("%v: deleted %v, want %v", id, gone[id], below)
		}
		if below {
			f.dead[id] = true
		}
	}
}

func (f *forest) copy(t *rapid.T) {
	live := f.live()
	source, parent := live[f.someID(t, "source")], f.someID(t, "parent")
	if source == nil || parent != nil && live[parent] == nil {
		return
	}
	name := f.newName(t)
	x, err := f.shape.Copy(source, live[parent], name, false)
	if name == "" {
		name = source.Name
	}
	after := f.live()
	after[f.last] = &plan.Node{ID: f.last, Parent: parent, Name: name, Tree: "t"}
	if err != nil {
		f.refused(t, err, after, pathlock.ErrInvalidPath, fault.ErrPathTooLong)
		return
	}
	paths, _, _ := places(after)
	if x.After.Path != paths[f.last] || x.To.Path.Column() != paths[f.last] || x.From.Path.Column() != source.Path {
		t.Fatalf("a copy of %q at %q, want %q", x.From.Path, x.After.Path, paths[f.last])
	}
	covered(t, x, x.After.Path)
}

// check holds the paths that the plans have made against those that follow from the parents.
func (f *forest) check(t *rapid.T) {
	live := f.live()
	paths, idPaths, ok := places(live)
	if !ok {
		t.Fatalf("a row has no place: %v", live)
	}
	var chains []*plan.Node
	for id, n := range live {
		if n.Path != paths[id] || n.IDs != idPaths[id] {
			t.Fatalf("%v is at %q, %q; it belongs at %q, %q", id, n.Path, n.IDs, paths[id], idPaths[id])
		}
		chains = append(chains, n)
	}
	c := f.shape.Chains(chains, live, nil)
	for next := c.Next(); len(next) > 0; next = c.Next() {
		for _, id := range next {
			c.Found(slices.Values([]*plan.Node{live[id]}))
		}
	}
	testerr.Must(t, c.Check())
	// A path that is not the parent's and the name is noticed, however far up.
	for _, damaged := range live {
		damaged.Path += "x"
		err := c.Check()
		damaged.Path = strings.TrimSuffix(damaged.Path, "x")
		if !errors.Is(err, pathlock.ErrPathChanged) {
			t.Fatalf("nobody notices that the path of %v is wrong: %v", damaged.ID, err)
		}
		break
	}
}

// After any writes, every path is the parent's path and the row's own name; whatever changes its
// path is locked at both places; and only what cannot be is refused.
func TestPlans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newForest()
		t.Repeat(map[string]func(*rapid.T){
			"insert": f.insert, "update": f.update, "delete": f.delete, "copy": f.copy, "": f.check,
		})
	})
}
