package lockspec_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// request is a request as Bind sees it: values by the source's text.
type request map[string]string

func (r request) get(src lockspec.Source) ([]string, error) {
	v, ok := r[src.String()]
	switch {
	case v == null:
		return nil, lockspec.ErrNull
	case !ok:
		return nil, nil
	case src.IsEach():
		return strings.Fields(v), nil
	}
	return []string{v}, nil
}

// null is the value of a source that is there and null.
const null = "\x00null"

// forest answers where nodes are: "kind:id" to "tree path".
type forest map[string]string

func (f forest) resolve(nodes []lockspec.Node) []pathlock.Resolution {
	found := make([]pathlock.Resolution, len(nodes))
	for i, n := range nodes {
		where, ok := f[n.Kind+":"+n.ID]
		switch {
		case strings.HasPrefix(n.ID, "-"):
			found[i].Err = fmt.Errorf("%w: %q is negative", pathlock.ErrInvalidID, n.ID)
			continue
		case !ok:
			found[i].Err = fmt.Errorf("%w: %q", pathlock.ErrNotFound, n.ID)
			continue
		}
		name, p, _ := strings.Cut(where, " ")
		namespace, treeID, _ := strings.Cut(name, "/")
		found[i].Tree, found[i].Err = pathlock.NewTree(namespace, treeID)
		found[i].Path = path(p)
	}
	return found
}

// bind returns what a request has to lock.
func (r request) bind(s lockspec.Spec, f forest) (lockspec.Binding, error) {
	values, err := s.Read(r.get)
	if err != nil {
		return lockspec.Binding{}, err
	}
	return values.Bind(f.resolve)
}

// path is MustParsePath, for tables.
func path(s string) pathlock.Path { return pathlock.MustParsePath(s) }

// nodes are two plans with a few suites, a case, and something in the bin.
var nodes = forest{
	":1": "plans/p /", ":2": "plans/p /a", ":3": "plans/p /a/b", ":4": "plans/p /d",
	":11": "plans/o /", ":12": "plans/o /x", ":13": "plans/o /a/b",
	"case:2": "plans/p /a/f", "plan:7": "plans/p /", "plan:8": "plans/o /", "item:5": "plans/p /a/gone",
	"other:1": "archive/z /q", "dir:": "plans/p /", "dir:a/b/": "plans/p /a/b", "dir:0": "plans/p /0",
}

// describe writes a binding: "plans/p: X /a, X /n; plans/q: gate; to /n".
func describe(b lockspec.Binding) string {
	var parts []string
	for _, r := range b.Requests {
		what := testlock.Text(r.Claims)
		if r.Gate {
			what = strings.TrimSuffix("gate, "+what, ", ")
		}
		parts = append(parts, r.Tree.String()+": "+what)
	}
	for _, m := range b.Moves {
		parts = append(parts, "to "+m.To.String())
	}
	return strings.Join(parts, "; ")
}

func TestBind(t *testing.T) {
	id, parent, name := lockspec.Param("id"), lockspec.JSON("parent_id"), lockspec.JSON("name")
	plan, ids := lockspec.Query("plan").Kind("plan"), lockspec.JSON("ids").Each()
	dir, place := lockspec.JSON("dir").Path("dir"), lockspec.JSON("dir").Path()
	insertTop, moveTop := lockspec.Insert(parent.OrTop(plan), name), lockspec.Move(id, parent.OrTop())
	either := lockspec.Move(id, parent.OrTop().Optional(), name.Optional())
	for _, c := range []struct {
		what string
		spec lockspec.Spec
		req  request
		want string
	}{
		{"rename", lockspec.Rename(id, name), request{"param id": "3", "json name": "n"}, "plans/p: X /a/b, X /a/n; to /a/n"},
		{"rename, name not said", lockspec.Rename(id), request{"param id": "3"}, "plans/p: X /a/b, X /a"},
		{"rename to the same name", lockspec.Rename(id, name), request{"param id": "3", "json name": "b"}, "plans/p: X /a/b; to /a/b"},
		{"rename of a leaf", lockspec.Rename(id.Kind("case"), name.Optional()), request{"param id": "2", "json name": "g"}, "plans/p: X /a/f, X /a/g; to /a/g"},
		{"only the text, of the root", lockspec.Rename(id, name.Optional()), request{"param id": "1"}, "plans/p: X /"},
		{"insert by a path", lockspec.Insert(dir, name), request{"json dir": "a/b/", "json name": "n"}, "plans/p: X /a/b/n"},
		{"insert by an empty path", lockspec.Insert(dir, name), request{"json dir": "", "json name": "n"}, "plans/p: X /n"},
		{"insert by a path that is null", lockspec.Insert(dir, name), request{"json dir": null, "json name": "n"}, "plans/p: X /n"},
		{"insert by no path", lockspec.Insert(dir, name), request{"json name": "n"}, "plans/p: X /n"},
		{"insert below a folder called 0", lockspec.Insert(dir, name), request{"json dir": "0", "json name": "n"}, "plans/p: X /0/n"},
		{"move to the path of the top", lockspec.Move(id, dir), request{"param id": "3"}, "plans/p: X /a/b, X /b; to /b"},
		{"move by an optional path that is null", lockspec.Move(id, dir.Optional()), request{"param id": "3", "json dir": null}, "plans/p: X /a/b, X /b; to /b"},
		{"move by an optional path that is missing", lockspec.Move(id, dir.Optional()), request{"param id": "3"}, "plans/p: X /a/b; to /a/b"},
		{"move to a place", lockspec.Move(id, place), request{"param id": "3", "json dir": "d/e/"}, "plans/p: X /a/b, X /d/e/b; to /d/e/b"},
		{"move to a place that is null", lockspec.Move(id, place), request{"param id": "3", "json dir": null}, "plans/p: X /a/b, X /b; to /b"},
		{"move to an optional place that is missing", lockspec.Move(id, place.Optional()), request{"param id": "3"}, "plans/p: X /a/b; to /a/b"},
		{"copy to a place called 0", lockspec.Copy(id, place), request{"param id": "3", "json dir": "/0"}, "plans/p: S /a/b, X /0"},
		{"insert at a place", lockspec.Insert(place.OrTop(plan), name), request{"query plan": "8", "json dir": "x", "json name": "n"}, "plans/o: X /x/n"},
		{"delete by a path", lockspec.Delete(dir), request{"json dir": "a/b/"}, "plans/p: X /a/b"},
		{"move", lockspec.Move(id, parent), request{"param id": "3", "json parent_id": "4"}, "plans/p: X /a/b, X /d/b; to /d/b"},
		{"move to where it is", lockspec.Move(id, parent), request{"param id": "3", "json parent_id": "2"}, "plans/p: X /a/b; to /a/b"},
		{"move and rename", lockspec.Move(id, parent, name), request{"param id": "3", "json parent_id": "4", "json name": "n"}, "plans/p: X /a/b, X /d/n; to /d/n"},
		{"move or rename: rename", lockspec.Move(id, parent.Optional(), name.Optional()), request{"param id": "3", "json name": "n"}, "plans/p: X /a/b, X /a/n; to /a/n"},
		{"move to a path of this name in another plan", lockspec.Move(id, parent), request{"param id": "2", "json parent_id": "13"}, "plans/o: X /a/b/a; plans/p: X /a"},
		{"move or rename: neither", lockspec.Move(id, parent.Optional(), name.Optional()), request{"param id": "3"}, "plans/p: X /a/b; to /a/b"},
		{"move to another plan", lockspec.Move(id, parent), request{"param id": "3", "json parent_id": "12"}, "plans/o: X /x/b; plans/p: X /a/b"},
		{"copy beside itself", lockspec.Copy(id, parent.Optional(), name), request{"param id": "3", "json name": "n"}, "plans/p: S /a/b, X /a/n"},
		{"copy into itself", lockspec.Copy(id, parent, name), request{"param id": "2", "json parent_id": "3", "json name": "n"}, "plans/p: S /a, X /a/b/n"},
		{"copy to another plan", lockspec.Copy(id, parent, name), request{"param id": "3", "json parent_id": "12", "json name": "n"}, "plans/o: X /x/n; plans/p: S /a/b"},
		{"names before plans", lockspec.All(lockspec.Gate(id.Kind("plan")), lockspec.Names("project", lockspec.Param("project"))), request{"param project": "42", "param id": "7"}, "project/42: gate; plans/p: gate"},
		{"names before claims", lockspec.All(lockspec.Delete(id), lockspec.Delete(lockspec.Const("1").Kind("other")), lockspec.Names("project", lockspec.Const("42"))), request{"param id": "3"}, "project/42: gate; archive/z: X /q; plans/p: X /a/b"},
		{"a gate where its claims would be", lockspec.All(lockspec.Gate(id), lockspec.Delete(lockspec.Const("1").Kind("other"))), request{"param id": "3"}, "archive/z: X /q; plans/p: gate"},
		{"a gate without an id", lockspec.All(lockspec.Gate(parent.Optional()), lockspec.Edit(id)), request{"param id": "3"}, "plans/p: IX /a/b"},
		{"one tree, one request", lockspec.All(lockspec.Delete(id), lockspec.Insert(parent, name), lockspec.Delete(id)), request{"param id": "3", "json parent_id": "4", "json name": "n"}, "plans/p: X /a/b, X /d/n"},
		{"insert at the top, null for the parent", insertTop, request{"json parent_id": null, "query plan": "7", "json name": "n"}, "plans/p: X /n"},
		{"insert at the top, an empty id", insertTop, request{"json parent_id": "", "query plan": "7", "json name": "n"}, "plans/p: X /n"},
		{"insert at the top, the zero id", insertTop, request{"json parent_id": "0", "query plan": "7", "json name": "n"}, "plans/p: X /n"},
		{"insert at the top, the zero UUID", insertTop, request{"json parent_id": "00000000-0000-0000-0000-000000000000", "query plan": "7", "json name": "n"}, "plans/p: X /n"},
		{"insert below a parent, no plan", insertTop, request{"json parent_id": "2", "json name": "n"}, "plans/p: X /a/n"},
		{"insert at the top of the only plan", lockspec.Insert(parent.OrTop(lockspec.Const("7").Kind("plan")), name), request{"json name": "n"}, "plans/p: X /n"},
		{"optional, no parent", lockspec.Insert(parent.OrTop(plan).Optional(), name), request{"query plan": "7", "json name": "n"}, ""},
		{"optional, null", lockspec.Insert(parent.Optional().OrTop(plan), name), request{"json parent_id": null, "query plan": "7", "json name": "n"}, "plans/p: X /n"},
		{"move of what is at the top", moveTop, request{"param id": "2"}, "plans/p: X /a; to /a"},
		{"move or rename: to the top", either, request{"param id": "3", "json parent_id": null}, "plans/p: X /a/b, X /b; to /b"},
		{"move to the top of another plan", lockspec.Move(id, parent.OrTop(plan)), request{"param id": "3", "query plan": "8"}, "plans/o: X /b; plans/p: X /a/b"},
		{"several are deleted", lockspec.Delete(ids), request{"json ids": "2 4 12 2"}, "plans/o: X /x; plans/p: X /a, X /d"},
		{"several are moved", lockspec.Move(ids, parent), request{"json ids": "3 4", "json parent_id": "2"}, "plans/p: X /a/b, X /d, X /a/d; to /a/b; to /a/d"},
		{"a list that may be missing, and is empty", lockspec.Delete(ids.Optional()), request{"json ids": ""}, ""},
		{"copy of the root to the top", lockspec.Copy(id, parent.OrTop(), name), request{"param id": "1", "json name": "n"}, "plans/p: S /, X /n"},
		{"null where OrTop is not said", lockspec.Move(id, parent.Optional(), name.Optional()), request{"param id": "3", "json parent_id": null}, "plans/p: X /a/b; to /a/b"},
		{"a name that is changed twice", lockspec.Rename(id, name.Map(strings.TrimSpace).Map(strings.ToLower)), request{"param id": "3", "json name": " N"}, "plans/p: X /a/b, X /a/n; to /a/n"},
		{"a changed name that is missing", lockspec.Rename(id, name.Map(strings.TrimSpace).Optional()), request{"param id": "3"}, "plans/p: X /a/b"},
	} {
		t.Run(c.what, func(t *testing.T) {
			b, err := c.req.bind(c.spec, nodes)
			testerr.Must(t, err)
			if got := describe(b); got != c.want {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestBindRefuses(t *testing.T) {
	id, parent, name := lockspec.Param("id"), lockspec.JSON("parent_id"), lockspec.JSON("name")
	plan, ids := lockspec.Query("plan").Kind("plan"), lockspec.JSON("ids").Each()
	deep := forest{":1": "plans/p " + strings.Repeat("/x", pathlock.MaxDepth), ":2": "plans/p /a"}
	full := request{"param id": "3", "json parent_id": "4", "json name": "n"}
	with := func(key, value string) request {
		r := maps.Clone(full)
		r[key] = value
		return r
	}
	noParent := request{"json name": "n"}
	for _, c := range []struct {
		what  string
		spec  lockspec.Spec
		nodes forest
		req   request
		is    error
		field string
		says  string
	}{
		{"a parameter that the route lacks", lockspec.Delete(id), nodes, noParent, lockspec.ErrSpec, "", `no parameter "id"`},
		{"a slash in a name", lockspec.Insert(parent, name), nodes, with("json name", "x/y"), lockspec.ErrInvalid, "name", "contains a slash"},
		{"a bad name of an unknown node", lockspec.Rename(id, name), nodes, request{"param id": "99", "json name": "."}, lockspec.ErrInvalid, "name", "is reserved"},
		{"an id that none can be", lockspec.Delete(id), nodes, with("param id", "-1"), pathlock.ErrInvalidID, "id", "is negative"},
		{"an id that nothing has", lockspec.Delete(id), nodes, with("param id", "99"), pathlock.ErrNotFound, "", "param id"},
		{"a parent that does not exist", lockspec.Move(id, parent), nodes, with("json parent_id", "99"), pathlock.ErrNotFound, "", "json parent_id"},
		{"too deep", lockspec.Insert(parent, name), deep, with("json parent_id", "1"), lockspec.ErrInvalid, "name", "names are allowed"},
		{"a move too deep", lockspec.Move(id, parent), deep, request{"param id": "2", "json parent_id": "1"}, lockspec.ErrInvalid, "id", "names are allowed"},
		{"a move into its child", lockspec.Move(id, parent), nodes, request{"param id": "2", "json parent_id": "3"}, lockspec.ErrWouldCycle, "", "/a to below /a/b"},
		{"a move of the root", lockspec.Move(id, parent), nodes, with("param id", "1"), lockspec.ErrInvalid, "id", "root of a tree"},
		{"a rename of the root", lockspec.Rename(id, name), nodes, with("param id", "1"), lockspec.ErrInvalid, "id", "root of a tree"},
		{"a delete of the root", lockspec.Delete(id), nodes, with("param id", "1"), lockspec.ErrInvalid, "id", "root of a tree"},
		{"a copy beside the root", lockspec.Copy(id, parent.Optional(), name), nodes, request{"param id": "1", "json name": "n"}, lockspec.ErrInvalid, "id", "beside the root"},
		{"names of a bad project", lockspec.Names("project", id), nodes, with("param id", "a\nb"), lockspec.ErrInvalid, "id", "control character"},
		{"the zero spec", lockspec.Spec{}, nodes, full, lockspec.ErrSpec, "", "it is empty"},
		{"an empty list", lockspec.Delete(ids), nodes, request{"json ids": ""}, lockspec.ErrInvalid, "ids", "is missing"},
		{"a list with the root in it", lockspec.Delete(ids), nodes, request{"json ids": "2 1"}, lockspec.ErrInvalid, "ids", "the root of a tree"},
		{"a list with an id that is not there", lockspec.Delete(ids), nodes, request{"json ids": "2 99"}, pathlock.ErrNotFound, "", "99"},
		{"too long a list", lockspec.Delete(ids), nodes, request{"json ids": strings.Repeat("2 ", 101)}, lockspec.ErrInvalid, "ids", "has 101 values, at most 100"},
		{"no parent and no plan", lockspec.Insert(parent.OrTop(plan), name), nodes, noParent, lockspec.ErrInvalid, "plan", "is missing"},
		{"a null where OrTop is not said", lockspec.Insert(parent, name), nodes, with("json parent_id", null), lockspec.ErrInvalid, "parent_id", "is missing"},
		{"a place that none can be", lockspec.Move(id, lockspec.JSON("dir").Path()), nodes, request{"param id": "3", "json dir": "a/../b"}, lockspec.ErrInvalid, "dir", "is reserved"},
		{"a move into itself by a path", lockspec.Move(id, lockspec.JSON("dir").Path()), nodes, request{"param id": "2", "json dir": "a/b/"}, lockspec.ErrWouldCycle, "", "/a to below /a/b"},
		{"a name of which nothing is left", lockspec.Rename(id, name.Map(strings.TrimSpace)), nodes, with("json name", " "), lockspec.ErrInvalid, "name", "empty name"},
	} {
		t.Run(c.what, func(t *testing.T) {
			b, err := c.req.bind(c.spec, c.nodes)
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

// An error of whoever gets the values or finds the nodes reaches the caller.
func TestBind_errorsOfOthersReachTheCaller(t *testing.T) {
	broken := errors.New("connection reset")
	spec := lockspec.Rename(lockspec.Const("2"), lockspec.JSON("name"))
	for want, said := range map[string]error{
		"lockspec: json name: connection reset":                           broken,
		"lockspec: invalid request: name: is given twice":                 &lockspec.InvalidError{Field: "name", Reason: "is given twice"},
		"lockspec: invalid request: name: pathlock: invalid id: no match": fmt.Errorf("%w: no match", pathlock.ErrInvalidID),
	} {
		_, err := spec.Read(func(lockspec.Source) ([]string, error) { return nil, said })
		if !errors.Is(err, said) || err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	values, err := spec.Read(request{"json name": "n"}.get)
	testerr.Must(t, err)
	for _, answers := range [][]pathlock.Resolution{{{Err: broken}}, {{}, {}}} {
		b, err := values.Bind(func([]lockspec.Node) []pathlock.Resolution { return answers })
		if err == nil || len(answers) == 1 && !errors.Is(err, broken) || len(b.Requests) > 0 {
			t.Errorf("%v: got %v beside %v", answers, err, b)
		}
	}
	// No client can mend a constant.
	_, err = values.Bind(func([]lockspec.Node) []pathlock.Resolution {
		return []pathlock.Resolution{{Err: pathlock.ErrInvalidID}}
	})
	if want := `lockspec: const 2 is not an id of the kind "": pathlock: invalid id`; err == nil || err.Error() != want || pathlock.FailureOf(err) != "" {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The binding lists each node that the plan depends on once, and all are found at once.
func TestBindTellsItsNodes(t *testing.T) {
	id := lockspec.Param("id")
	spec := lockspec.All(lockspec.Delete(id), lockspec.Copy(id, lockspec.Param("id").Kind("plan"), lockspec.Const("n")).SnapshotSource(), lockspec.Edit(lockspec.Query("id")))
	values, err := spec.Read(request{"param id": "7", "query id": "7"}.get)
	testerr.Must(t, err)
	asked := 0
	b, err := values.Bind(func(nodes []lockspec.Node) []pathlock.Resolution {
		asked++
		return forest{":7": "plans/p /a", "plan:7": "plans/p /"}.resolve(nodes)
	})
	tree := b.Requests[0].Tree
	want := []lockspec.Node{{ID: "7", Location: pathlock.Location{Tree: tree, Path: path("/a")}}, {Kind: "plan", ID: "7", Location: pathlock.Location{Tree: tree}}}
	if err != nil || asked != 1 || !slices.Equal(b.Nodes, want) {
		t.Errorf("asked %d times (%v): got %v, want %v", asked, err, b.Nodes, want)
	}
}
