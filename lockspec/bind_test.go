package lockspec_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// request is a request as Bind sees it: values by the source's text.
type request map[string]string

func (r request) get(src lockspec.Source) (string, bool, error) {
	v, ok := r[src.String()]
	if v == null {
		return "", false, lockspec.ErrNull
	}
	return v, ok, nil
}

// null is the value of a source that is there and null.
const null = "\x00null"

// forest answers where nodes are: "kind:id" to "tree path".
type forest map[string]string

func (f forest) resolve(kind, id string) (pathlock.Location, error) {
	where, ok := f[kind+":"+id]
	switch {
	case strings.HasPrefix(id, "-"):
		return pathlock.Location{}, fmt.Errorf("%w: %q is negative", pathlock.ErrInvalidID, id)
	case !ok:
		return pathlock.Location{}, fmt.Errorf("%w: %q", pathlock.ErrNotFound, id)
	}
	name, p, _ := strings.Cut(where, " ")
	namespace, treeID, _ := strings.Cut(name, "/")
	tree, err := pathlock.NewTree(namespace, treeID)
	return pathlock.Location{Tree: tree, Path: path(p)}, err
}

// nodes are two plans with a few suites, a case, and something in the bin.
var nodes = forest{
	":1": "plans/p /", ":2": "plans/p /a", ":3": "plans/p /a/b", ":4": "plans/p /d",
	":11": "plans/o /", ":12": "plans/o /x",
	"case:2": "plans/p /a/f", "plan:7": "plans/p /", "plan:8": "plans/o /", "item:5": "plans/p /a/gone",
	"other:1": "archive/z /q",
}

// describe writes a binding's requests: "plans/p: X /a, X /n; plans/q: gate".
func describe(requests []pathlock.Request) string {
	var parts []string
	for _, r := range requests {
		what := text(r.Claims)
		if r.Gate {
			what = strings.TrimSuffix("gate, "+what, ", ")
		}
		parts = append(parts, r.Tree.String()+": "+what)
	}
	return strings.Join(parts, "; ")
}

func TestBind(t *testing.T) {
	id, parent, name := lockspec.Param("id"), lockspec.JSON("parent_id"), lockspec.JSON("name")
	for _, c := range []struct {
		what string
		spec lockspec.Spec
		req  request
		want string
	}{
		{"insert", lockspec.Insert(parent, name), request{"json parent_id": "2", "json name": "n"}, "plans/p: X /a/n"},
		{"insert, parent-exclusive", lockspec.Insert(parent, name).ParentExclusive(), request{"json parent_id": "2", "json name": "n"}, "plans/p: X /a"},
		{"insert without a name", lockspec.Insert(parent), request{"json parent_id": "2"}, "plans/p: X /a"},
		{"insert, the handler chooses the name", lockspec.Insert(parent, name.Optional()), request{"json parent_id": "2"}, "plans/p: X /a"},
		{"insert without a parent", lockspec.Insert(parent.Optional(), name), request{"json name": "n"}, ""},
		{"rename", lockspec.Rename(id, name), request{"param id": "3", "json name": "n"}, "plans/p: X /a/b, X /a/n"},
		{"rename, parent-exclusive", lockspec.Rename(id, name).ParentExclusive(), request{"param id": "3", "json name": "n"}, "plans/p: X /a/b, X /a"},
		{"rename, name not said", lockspec.Rename(id), request{"param id": "3"}, "plans/p: X /a/b, X /a"},
		{"rename to the same name", lockspec.Rename(id, name), request{"param id": "3", "json name": "b"}, "plans/p: X /a/b"},
		{"rename of a leaf", lockspec.Rename(id.Kind("case"), name.Optional()), request{"param id": "2", "json name": "g"}, "plans/p: X /a/f, X /a/g"},
		{"rename of a leaf, only its text", lockspec.Rename(id.Kind("case"), name.Optional()), request{"param id": "2"}, "plans/p: X /a/f"},
		{"only the text, parent-exclusive", lockspec.Rename(id, name.Optional()).ParentExclusive(), request{"param id": "3"}, "plans/p: X /a/b"},
		{"only the text, of the root", lockspec.Rename(id, name.Optional()), request{"param id": "1"}, "plans/p: X /"},
		{"move", lockspec.Move(id, parent), request{"param id": "3", "json parent_id": "4"}, "plans/p: X /a/b, X /d/b"},
		{"move to the top", lockspec.Move(id, parent), request{"param id": "3", "json parent_id": "1"}, "plans/p: X /a/b, X /b"},
		{"move, parent-exclusive", lockspec.Move(id, parent).ParentExclusive(), request{"param id": "3", "json parent_id": "4"}, "plans/p: X /a/b, X /d"},
		{"move to where it is", lockspec.Move(id, parent), request{"param id": "3", "json parent_id": "2"}, "plans/p: X /a/b"},
		{"move and rename", lockspec.Move(id, parent, name), request{"param id": "3", "json parent_id": "4", "json name": "n"}, "plans/p: X /a/b, X /d/n"},
		{"move or rename: rename", lockspec.Move(id, parent.Optional(), name.Optional()), request{"param id": "3", "json name": "n"}, "plans/p: X /a/b, X /a/n"},
		{"move or rename: move", lockspec.Move(id, parent.Optional(), name.Optional()), request{"param id": "3", "json parent_id": "4"}, "plans/p: X /a/b, X /d/b"},
		{"move or rename: neither", lockspec.Move(id, parent.Optional(), name.Optional()), request{"param id": "3"}, "plans/p: X /a/b"},
		{"move to another plan", lockspec.Move(id, parent), request{"param id": "3", "json parent_id": "12"}, "plans/o: X /x/b; plans/p: X /a/b"},
		{"move back", lockspec.Move(id, parent), request{"param id": "12", "json parent_id": "3"}, "plans/o: X /x; plans/p: X /a/b/x"},
		{"copy", lockspec.Copy(id, parent, name), request{"param id": "3", "json parent_id": "4", "json name": "n"}, "plans/p: S /a/b, X /d/n"},
		{"copy without a name", lockspec.Copy(id, parent), request{"param id": "3", "json parent_id": "4"}, "plans/p: S /a/b, X /d"},
		{"copy, the handler chooses the name", lockspec.Copy(id, parent, name.Optional()), request{"param id": "3", "json parent_id": "4"}, "plans/p: S /a/b, X /d"},
		{"copy beside itself", lockspec.Copy(id, parent.Optional(), name), request{"param id": "3", "json name": "n"}, "plans/p: S /a/b, X /a/n"},
		{"copy into itself", lockspec.Copy(id, parent, name), request{"param id": "2", "json parent_id": "3", "json name": "n"}, "plans/p: S /a, X /a/b/n"},
		{"copy of the root into itself", lockspec.Copy(id, parent, name), request{"param id": "1", "json parent_id": "3", "json name": "n"}, "plans/p: S /, X /a/b/n"},
		{"copy from a snapshot", lockspec.Copy(id, parent, name).SnapshotSource(), request{"param id": "3", "json parent_id": "4", "json name": "n"}, "plans/p: X /d/n"},
		{"copy to another plan", lockspec.Copy(id, parent, name), request{"param id": "3", "json parent_id": "12", "json name": "n"}, "plans/o: X /x/n; plans/p: S /a/b"},
		{"snapshot copy from another plan", lockspec.Copy(id, parent, name).SnapshotSource(), request{"param id": "12", "json parent_id": "4", "json name": "n"}, "plans/p: X /d/n"},
		{"delete", lockspec.Delete(id), request{"param id": "3"}, "plans/p: X /a/b"},
		{"edit", lockspec.Edit(id), request{"param id": "3"}, "plans/p: IX /a/b"},
		{"edit of nothing", lockspec.Edit(id.Optional()), request{}, ""},
		{"read", lockspec.Read(id), request{"param id": "1"}, "plans/p: S /"},
		{"slot", lockspec.Slot(id.Kind("item")), request{"param id": "5"}, "plans/p: X /a/gone"},
		{"the whole plan", lockspec.Gate(id.Kind("plan")), request{"param id": "7"}, "plans/p: gate"},
		{"names of a project", lockspec.Names("project", lockspec.Param("project")), request{"param project": "42"}, "project/42: gate"},
		{"rename a plan", lockspec.All(lockspec.Names("project", lockspec.Param("project")), lockspec.Gate(id.Kind("plan"))), request{"param project": "42", "param id": "7"}, "project/42: gate; plans/p: gate"},
		{"gates as listed", lockspec.All(lockspec.Gate(id.Kind("plan")), lockspec.Names("project", lockspec.Param("project"))), request{"param project": "42", "param id": "7"}, "plans/p: gate; project/42: gate"},
		{"gates of one namespace by id", lockspec.All(lockspec.Gate(id.Kind("plan")), lockspec.Gate(parent.Kind("plan"))), request{"param id": "7", "json parent_id": "8"}, "plans/o: gate; plans/p: gate"},
		{"gates before claims", lockspec.All(lockspec.Delete(id), lockspec.Delete(lockspec.Const("1").Kind("other")), lockspec.Names("project", lockspec.Const("42"))), request{"param id": "3"}, "project/42: gate; archive/z: X /q; plans/p: X /a/b"},
		{"gates in their own order", lockspec.All(lockspec.Delete(id), lockspec.Names("project", lockspec.Const("42")), lockspec.Gate(id)), request{"param id": "3"}, "project/42: gate; plans/p: gate"},
		{"a gate without an id", lockspec.All(lockspec.Gate(parent.Optional()), lockspec.Edit(id)), request{"param id": "3"}, "plans/p: IX /a/b"},
		{"one tree, one request", lockspec.All(lockspec.Delete(id), lockspec.Insert(parent, name), lockspec.Delete(id)), request{"param id": "3", "json parent_id": "4", "json name": "n"}, "plans/p: X /a/b, X /d/n"},
		{"a constant", lockspec.Insert(lockspec.Const("4"), lockspec.Const("inbox")), nil, "plans/p: X /d/inbox"},
		{"nothing", lockspec.None("touches no live path"), nil, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			b, err := c.spec.Bind(c.req.get, nodes.resolve)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(b.Requests); got != c.want {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
			// Whoever prefetches reads what Bind asks for and nothing else.
			if ids, err := c.spec.IDs(c.req.get); err != nil || !slices.Equal(ids, idsOf(b.Nodes)) {
				t.Errorf("IDs are %v (%v), and Bind resolved %v", ids, err, idsOf(b.Nodes))
			}
		})
	}
}

// idsOf returns the ids of nodes.
func idsOf(nodes []lockspec.Node) []lockspec.ID {
	var ids []lockspec.ID
	for _, n := range nodes {
		ids = append(ids, lockspec.ID{Kind: n.Kind, ID: n.ID})
	}
	return ids
}

func TestBindRefuses(t *testing.T) {
	id, parent, name := lockspec.Param("id"), lockspec.JSON("parent_id"), lockspec.JSON("name")
	deep := forest{":1": "plans/p " + strings.Repeat("/x", pathlock.MaxDepth), ":2": "plans/p /a"}
	full := request{"param id": "3", "json parent_id": "4", "json name": "n"}
	with := func(key, value string) request {
		r := maps.Clone(full)
		r[key] = value
		return r
	}
	without := func(key string) request {
		r := maps.Clone(full)
		delete(r, key)
		return r
	}
	for _, c := range []struct {
		what  string
		spec  lockspec.Spec
		nodes forest
		req   request
		is    error
		field string
		says  string
	}{
		{"a missing id", lockspec.Delete(id), nodes, without("param id"), lockspec.ErrInvalid, "id", "is missing"},
		{"a missing id of a kind", lockspec.Gate(id.Kind("plan")), nodes, without("param id"), lockspec.ErrInvalid, "id", "is missing"},
		{"a missing name", lockspec.Rename(id, name), nodes, without("json name"), lockspec.ErrInvalid, "name", "is missing"},
		{"a missing parent", lockspec.Move(id, parent), nodes, without("json parent_id"), lockspec.ErrInvalid, "parent_id", "is missing"},
		{"an empty name", lockspec.Rename(id, name), nodes, with("json name", ""), lockspec.ErrInvalid, "name", "empty name"},
		{"an empty optional name", lockspec.Rename(id, name.Optional()), nodes, with("json name", ""), lockspec.ErrInvalid, "name", "empty name"},
		{"a slash in a name", lockspec.Insert(parent, name), nodes, with("json name", "x/y"), lockspec.ErrInvalid, "name", "contains a slash"},
		{"dots for a name", lockspec.Copy(id, parent, name), nodes, with("json name", ".."), lockspec.ErrInvalid, "name", "is reserved"},
		{"NUL in a name", lockspec.Move(id, parent, name), nodes, with("json name", "x\x00"), lockspec.ErrInvalid, "name", "control character"},
		{"a bad name, parent-exclusive", lockspec.Insert(parent, name).ParentExclusive(), nodes, with("json name", "x/y"), lockspec.ErrInvalid, "name", "contains a slash"},
		{"a bad name of an unknown node", lockspec.Rename(id, name), nodes, request{"param id": "99", "json name": "."}, lockspec.ErrInvalid, "name", "is reserved"},
		{"a bad name in a snapshot copy", lockspec.Copy(id, parent, name).SnapshotSource(), nodes, with("json name", "\xff"), lockspec.ErrInvalid, "name", "UTF-8"},
		{"an id that none can be", lockspec.Delete(id), nodes, with("param id", "-1"), pathlock.ErrInvalidID, "id", "is negative"},
		{"an id that nothing has", lockspec.Delete(id), nodes, with("param id", "99"), pathlock.ErrNotFound, "", "param id"},
		{"a parent that does not exist", lockspec.Move(id, parent), nodes, with("json parent_id", "99"), pathlock.ErrNotFound, "", "json parent_id"},
		{"the gate of a plan that does not exist", lockspec.Gate(id.Kind("plan")), nodes, full, pathlock.ErrNotFound, "", "param id"},
		{"an id of another kind", lockspec.Delete(id.Kind("case")), nodes, full, pathlock.ErrNotFound, "", "param id"},
		{"too deep", lockspec.Insert(parent, name), deep, with("json parent_id", "1"), lockspec.ErrInvalid, "name", "names are allowed"},
		{"a move too deep", lockspec.Move(id, parent), deep, request{"param id": "2", "json parent_id": "1"}, lockspec.ErrInvalid, "id", "names are allowed"},
		{"a move into itself", lockspec.Move(id, parent), nodes, request{"param id": "2", "json parent_id": "2"}, lockspec.ErrWouldCycle, "", "/a to below /a"},
		{"a move into its child", lockspec.Move(id, parent), nodes, request{"param id": "2", "json parent_id": "3"}, lockspec.ErrWouldCycle, "", "/a to below /a/b"},
		{"the same, parent-exclusive", lockspec.Move(id, parent).ParentExclusive(), nodes, request{"param id": "2", "json parent_id": "3"}, lockspec.ErrWouldCycle, "", "/a to below /a/b"},
		{"a move of the root", lockspec.Move(id, parent), nodes, with("param id", "1"), lockspec.ErrInvalid, "id", "root of a tree"},
		{"a rename of the root", lockspec.Rename(id, name), nodes, with("param id", "1"), lockspec.ErrInvalid, "id", "root of a tree"},
		{"a rename of the root, name not said", lockspec.Rename(id), nodes, with("param id", "1"), lockspec.ErrInvalid, "id", "root of a tree"},
		{"a delete of the root", lockspec.Delete(id), nodes, with("param id", "1"), lockspec.ErrInvalid, "id", "root of a tree"},
		{"a copy beside the root", lockspec.Copy(id, parent.Optional(), name), nodes, request{"param id": "1", "json name": "n"}, lockspec.ErrInvalid, "id", "beside the root"},
		{"names of a bad project", lockspec.Names("project", id), nodes, with("param id", "a\nb"), lockspec.ErrInvalid, "id", "control character"},
		{"the zero spec", lockspec.Spec{}, nodes, full, lockspec.ErrSpec, "", "says nothing"},
	} {
		t.Run(c.what, func(t *testing.T) {
			var asked []lockspec.ID
			b, err := c.spec.Bind(c.req.get, func(kind, id string) (pathlock.Location, error) {
				asked = append(asked, lockspec.ID{Kind: kind, ID: id})
				return c.nodes.resolve(kind, id)
			})
			ids, before := c.spec.IDs(c.req.get)
			switch {
			case before != nil && (len(asked) > 0 || before.Error() != err.Error()):
				t.Errorf("IDs fails with %v, and Bind with %v after it has asked for %v", before, err, asked)
			case len(asked) > len(ids) || !slices.Equal(ids[:len(asked)], asked):
				t.Errorf("IDs are %v, and Bind asks for %v", ids, asked)
			}
			if !errors.Is(err, c.is) {
				t.Fatalf("got %v, which is no %v", err, c.is)
			}
			if len(b.Requests)+len(b.Nodes) > 0 {
				t.Errorf("got %+v beside the error", b)
			}
			if invalid := (*lockspec.InvalidError)(nil); errors.As(err, &invalid) != (c.field != "") || invalid != nil && invalid.Field != c.field {
				t.Errorf("got %#v, want the field %q", err, c.field)
			}
			if !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "lockspec: ") {
				t.Errorf("got %q, which does not say %q", err, c.says)
			}
		})
	}
}

func TestAMoveWithinOnePathOfTwoTreesIsNoCycle(t *testing.T) {
	twins := forest{":1": "plans/p /a", ":2": "plans/o /a/b"}
	b, err := lockspec.Move(lockspec.Const("1"), lockspec.Const("2")).Bind(nil, twins.resolve)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := describe(b.Requests), "plans/o: X /a/b/a; plans/p: X /a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBindReportsWhatGetSays(t *testing.T) {
	broken := errors.New("connection reset")
	tooMuch := &lockspec.InvalidError{Field: "name", Reason: "is given twice"}
	for _, c := range []struct {
		what string
		err  error
		want string
	}{
		{"an error of another package", broken, "lockspec: json name: connection reset"},
		{"an InvalidError", tooMuch, "lockspec: invalid request: name: is given twice"},
		{"an id that none can be", fmt.Errorf("%w: x", pathlock.ErrInvalidID), "lockspec: invalid request: name: pathlock: invalid id: x"},
	} {
		_, err := lockspec.Rename(lockspec.Const("2"), lockspec.JSON("name")).Bind(
			func(lockspec.Source) (string, bool, error) { return "", false, c.err },
			func(string, string) (pathlock.Location, error) {
				t.Errorf("%s: a node is resolved all the same", c.what)
				return pathlock.Location{}, nil
			})
		if !errors.Is(err, c.err) || err.Error() != c.want {
			t.Errorf("%s: got %q, want %q", c.what, err, c.want)
		}
	}
}

// What the plan rests on is told, each node once, and resolved once.
func TestBindTellsItsNodes(t *testing.T) {
	resolved := map[string]int{}
	id := lockspec.Param("id")
	spec := lockspec.All(lockspec.Delete(id), lockspec.Copy(id, lockspec.Param("id").Kind("plan"), lockspec.Const("n")).SnapshotSource(), lockspec.Edit(lockspec.Query("id")))
	ids := forest{":7": "plans/p /a", "plan:7": "plans/p /"}
	b, err := spec.Bind(request{"param id": "7", "query id": "7"}.get, func(kind, id string) (pathlock.Location, error) {
		resolved[kind+":"+id]++
		return ids.resolve(kind, id)
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{":7": 1, "plan:7": 1}; !maps.Equal(resolved, want) {
		t.Errorf("resolved %v, want %v", resolved, want)
	}
	suite, _ := ids.resolve("", "7")
	plan, _ := ids.resolve("plan", "7")
	want := []lockspec.Node{{Kind: "", ID: "7", Location: suite}, {Kind: "plan", ID: "7", Location: plan}}
	if !slices.Equal(b.Nodes, want) {
		t.Errorf("got %v, want %v", b.Nodes, want)
	}
}

// The new path of a node is told where the request says it, and the node stays in its tree.
func TestBindTellsWhereNodesMove(t *testing.T) {
	id, dest, name := lockspec.Const("3"), lockspec.Const("2"), lockspec.Const("n")
	for _, c := range []struct {
		what string
		spec lockspec.Spec
		want string
	}{
		{"a rename", lockspec.Rename(id, name), "/a/n"},
		{"a rename to no known name", lockspec.Rename(id), ""},
		{"a move", lockspec.Move(dest, lockspec.Const("1")), "/a"},
		{"a move under another name", lockspec.Move(id, dest, name), "/a/n"},
		{"a move to another tree", lockspec.Move(id, lockspec.Const("12")), ""},
		{"a copy", lockspec.Copy(id, dest, name), ""},
		{"an edit", lockspec.Edit(id), ""},
	} {
		b, err := c.spec.Bind(nil, nodes.resolve)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, m := range b.Moves {
			got += m.To.String()
		}
		if got != c.want {
			t.Errorf("%s: moves to %q, want %q", c.what, got, c.want)
		}
	}
}

// Two moves that cross between two trees lock them in the same order, so that neither can hold what
// the other waits for.
func TestCrossingMovesBetweenTreesLockInOneOrder(t *testing.T) {
	there := lockspec.Move(lockspec.Const("3"), lockspec.Const("12"))
	back := lockspec.Move(lockspec.Const("12"), lockspec.Const("3"))
	var orders [2][]pathlock.Tree
	for i, spec := range []lockspec.Spec{there, back} {
		b, err := spec.Bind(nil, nodes.resolve)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range b.Requests {
			orders[i] = append(orders[i], r.Tree)
		}
	}
	if len(orders[0]) != 2 || !slices.Equal(orders[0], orders[1]) {
		t.Errorf("got %v and %v", orders[0], orders[1])
	}
}
