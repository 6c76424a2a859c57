package lockspec_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

func TestOrTop(t *testing.T) {
	id, name, parent := lockspec.Param("id"), lockspec.JSON("name"), lockspec.JSON("parent_id")
	plan := lockspec.Query("plan").Kind("plan")
	insert := lockspec.Insert(parent.OrTop(plan), name)
	move := lockspec.Move(id, parent.OrTop())
	either := lockspec.Move(id, parent.OrTop().Optional(), name.Optional())
	away := lockspec.Move(id, parent.OrTop(plan))
	copied := lockspec.Copy(id, parent.OrTop(), name)
	for _, c := range []struct {
		what string
		spec lockspec.Spec
		req  request
		want string
		// ids are the kinds and ids that are resolved.
		ids string
	}{
		{"insert, no parent", insert, request{"query plan": "7", "json name": "n"}, "plans/p: X /n", "plan:7"},
		{"insert, null for the parent", insert, request{"json parent_id": null, "query plan": "7", "json name": "n"}, "plans/p: X /n", "plan:7"},
		{"insert, an empty id", insert, request{"json parent_id": "", "query plan": "7", "json name": "n"}, "plans/p: X /n", "plan:7"},
		{"insert, the zero id", insert, request{"json parent_id": "0", "query plan": "7", "json name": "n"}, "plans/p: X /n", "plan:7"},
		{"insert, the zero UUID", insert, request{"json parent_id": "00000000-0000-0000-0000-000000000000", "query plan": "7", "json name": "n"}, "plans/p: X /n", "plan:7"},
		{"insert, optional, an empty id", lockspec.Insert(parent.OrTop(plan).Optional(), name), request{"json parent_id": "", "query plan": "7", "json name": "n"}, "plans/p: X /n", "plan:7"},
		{"insert below a parent", insert, request{"json parent_id": "2", "query plan": "7", "json name": "n"}, "plans/p: X /a/n", ":2"},
		{"insert below a parent, no plan", insert, request{"json parent_id": "2", "json name": "n"}, "plans/p: X /a/n", ":2"},
		{"insert, parent-exclusive", insert.ParentExclusive(), request{"query plan": "7", "json name": "n"}, "plans/p: X /", "plan:7"},
		{"insert, the handler chooses the name", lockspec.Insert(parent.OrTop(plan)), request{"query plan": "7"}, "plans/p: X /", "plan:7"},
		{"insert, optional, no parent", lockspec.Insert(parent.OrTop(plan).Optional(), name), request{"query plan": "7", "json name": "n"}, "", ""},
		{"insert, optional, null", lockspec.Insert(parent.Optional().OrTop(plan), name), request{"json parent_id": null, "query plan": "7", "json name": "n"}, "plans/p: X /n", "plan:7"},
		{"insert into the tree of a node", lockspec.Insert(parent.OrTop(id), name), request{"param id": "3", "json name": "n"}, "plans/p: X /n", ":3"},
		{"insert into a constant tree", lockspec.Insert(parent.OrTop(lockspec.Const("8").Kind("plan")), name), request{"json name": "n"}, "plans/o: X /n", "plan:8"},
		{"move, no parent", move, request{"param id": "3"}, "plans/p: X /a/b, X /b", ":3"},
		{"move, null for the parent", move, request{"param id": "3", "json parent_id": null}, "plans/p: X /a/b, X /b", ":3"},
		{"move, the zero id", move, request{"param id": "3", "json parent_id": "0"}, "plans/p: X /a/b, X /b", ":3"},
		{"move to the top of another plan by the zero id", away, request{"param id": "3", "json parent_id": "0", "query plan": "8"}, "plans/o: X /b; plans/p: X /a/b", ":3 plan:8"},
		{"copy, an empty id", copied, request{"param id": "3", "json parent_id": "", "json name": "n"}, "plans/p: S /a/b, X /n", ":3"},
		{"move to a parent", move, request{"param id": "3", "json parent_id": "4"}, "plans/p: X /a/b, X /d/b", ":3 :4"},
		{"move of what is at the top", move, request{"param id": "2"}, "plans/p: X /a", ":2"},
		{"move and rename at the top", lockspec.Move(id, parent.OrTop(), name), request{"param id": "3", "json name": "n"}, "plans/p: X /a/b, X /n", ":3"},
		{"move or rename: move to the top", either, request{"param id": "3", "json parent_id": null}, "plans/p: X /a/b, X /b", ":3"},
		{"move or rename: both", either, request{"param id": "3", "json parent_id": null, "json name": "n"}, "plans/p: X /a/b, X /n", ":3"},
		{"move or rename: rename", either, request{"param id": "3", "json name": "n"}, "plans/p: X /a/b, X /a/n", ":3"},
		{"move to the top of another plan", away, request{"param id": "3", "query plan": "8"}, "plans/o: X /b; plans/p: X /a/b", ":3 plan:8"},
		{"copy to the top", copied, request{"param id": "3", "json name": "n"}, "plans/p: S /a/b, X /n", ":3"},
		{"copy of the root to the top", copied, request{"param id": "1", "json name": "n"}, "plans/p: S /, X /n", ":1"},
		{"null where OrTop is not said", lockspec.Move(id, parent.Optional(), name.Optional()), request{"param id": "3", "json parent_id": null}, "plans/p: X /a/b", ":3"},
	} {
		t.Run(c.what, func(t *testing.T) {
			b, err := c.spec.Bind(c.req.get, nodes.resolve)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(b.Requests); got != c.want {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
			var resolved []string
			for _, id := range idsOf(b.Nodes) {
				resolved = append(resolved, id.Kind+":"+id.ID)
			}
			if got := strings.Join(resolved, " "); got != c.ids {
				t.Errorf("resolved %q, want %q", got, c.ids)
			}
			ids, err := c.spec.IDs(c.req.get)
			ids = slices.DeleteFunc(ids, func(id lockspec.ID) bool { return strings.Trim(id.ID, "0-") == "" }) // of no node
			if err != nil || !slices.Equal(ids, idsOf(b.Nodes)) {
				t.Errorf("IDs are %v (%v), and Bind resolved %v", ids, err, idsOf(b.Nodes))
			}
		})
	}
}

// A row may have the id "0" where ids are texts, and the top is not meant then.
func TestAnIDThatANodeHasIsNotTheTop(t *testing.T) {
	plan := lockspec.Query("plan").Kind("plan")
	spec := lockspec.Insert(lockspec.JSON("parent_id").OrTop(plan), lockspec.JSON("name"))
	texts := forest{":0": "plans/p /zero", "plan:7": "plans/p /"}
	b, err := spec.Bind(request{"json parent_id": "0", "query plan": "7", "json name": "n"}.get, texts.resolve)
	if got := describe(b.Requests); err != nil || got != "plans/p: X /zero/n" {
		t.Errorf("locks %q (%v)", got, err)
	}
	broken := errors.New("the database is down")
	_, err = spec.Bind(request{"json parent_id": "0", "query plan": "7", "json name": "n"}.get, func(kind, id string) (pathlock.Location, error) {
		return pathlock.Location{}, broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, and whether a node has the id is not known", err)
	}
}

func TestOrTopIsRefused(t *testing.T) {
	id, name, parent := lockspec.Param("id"), lockspec.JSON("name"), lockspec.JSON("parent_id")
	plan := lockspec.Query("plan").Kind("plan")
	for _, c := range []struct {
		what string
		spec lockspec.Spec
		req  request
		is   error
		says string
	}{
		{"no parent and no plan", lockspec.Insert(parent.OrTop(plan), name), request{"json name": "n"}, lockspec.ErrInvalid, "plan: is missing"},
		{"the zero id and no plan", lockspec.Insert(parent.OrTop(plan), name), request{"json parent_id": "0", "json name": "n"}, lockspec.ErrInvalid, "plan: is missing"},
		{"the zero id where OrTop is not said", lockspec.Insert(parent, name), request{"json parent_id": "0", "json name": "n"}, pathlock.ErrNotFound, ""},
		{"a null where OrTop is not said", lockspec.Insert(parent, name), request{"json parent_id": null, "json name": "n"}, lockspec.ErrInvalid, "parent_id: is missing"},
		{"a move of the root", lockspec.Move(id, parent.OrTop()), request{"param id": "1"}, lockspec.ErrInvalid, "root of a tree"},
		{"an insert without a tree", lockspec.Insert(parent.OrTop(), name), nil, lockspec.ErrSpec, "insert: OrTop of json parent_id has to be given the tree"},
		{"two trees", lockspec.Move(id, parent.OrTop(plan, plan)), nil, lockspec.ErrSpec, "given 2 trees"},
		{"an optional tree", lockspec.Insert(parent.OrTop(plan.Optional()), name), nil, lockspec.ErrSpec, "can be missing itself"},
		{"a tree that is another top", lockspec.Move(id, parent.OrTop(plan.OrTop())), nil, lockspec.ErrSpec, "can be missing itself"},
		{"a tree that is no source", lockspec.Move(id, parent.OrTop(lockspec.Source{})), nil, lockspec.ErrSpec, "a source is missing"},
		{"for a node", lockspec.Delete(id.OrTop()), nil, lockspec.ErrSpec, "delete: OrTop is for the parent"},
		{"for a name", lockspec.Rename(id, name.OrTop()), nil, lockspec.ErrSpec, "rename: OrTop is for the parent"},
		{"for a gate", lockspec.Gate(id.OrTop(plan)), nil, lockspec.ErrSpec, "gate: OrTop is for the parent"},
	} {
		t.Run(c.what, func(t *testing.T) {
			if _, err := c.spec.Bind(c.req.get, nodes.resolve); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if err := c.spec.Check(); errors.Is(c.is, lockspec.ErrSpec) != (err != nil) {
				t.Errorf("Check says %v", err)
			}
		})
	}
}

func TestATableKnowsTheTreeOfTheTop(t *testing.T) {
	table := lockspec.Table{
		"POST /suites": lockspec.Insert(lockspec.JSON("parent_id").OrTop(lockspec.Param("plan")), lockspec.JSON("name")),
	}
	err := table.Check([]lockspec.Route{{Method: "POST", Path: "/suites"}})
	if err == nil || !strings.Contains(err.Error(), `needs the parameter "plan", which the route does not have`) {
		t.Errorf("got %v", err)
	}
}

// A name that a handler trims is the same name to the spec.
func TestMap(t *testing.T) {
	id, parent := lockspec.Param("id").Map(strings.ToLower), lockspec.JSON("parent_id").Map(strings.TrimSpace)
	name := lockspec.JSON("name").Map(strings.TrimSpace)
	for _, c := range []struct {
		what string
		spec lockspec.Spec
		req  request
		want string
		says string
	}{
		{"a name", lockspec.Rename(lockspec.Param("id"), name), request{"param id": "3", "json name": " n\n"}, "plans/p: X /a/b, X /a/n", ""},
		{"an id", lockspec.Move(lockspec.Param("id"), parent), request{"param id": "3", "json parent_id": " 4"}, "plans/p: X /a/b, X /d/b", ""},
		{"an id that another case of letters has", lockspec.Delete(id), request{"param id": "ABC"}, "plans/p: X /a", ""},
		{"twice", lockspec.Rename(lockspec.Param("id"), name.Map(strings.ToLower).Map(func(s string) string { return s + "!" })),
			request{"param id": "3", "json name": " N"}, "plans/p: X /a/b, X /a/n!", ""},
		{"a constant", lockspec.Insert(lockspec.Const("4"), lockspec.Const(" in ").Map(strings.TrimSpace)), nil, "plans/p: X /d/in", ""},
		{"the tree of the top", lockspec.Insert(lockspec.JSON("to").OrTop(id), name), request{"param id": "ABC", "json name": "n"}, "plans/p: X /n", ""},
		{"a name that the request lacks", lockspec.Rename(lockspec.Param("id"), name.Optional()), request{"param id": "3"}, "plans/p: X /a/b", ""},
		{"a name of which nothing is left", lockspec.Rename(lockspec.Param("id"), name), request{"param id": "3", "json name": " "}, "", "name: empty name"},
		{"by no function", lockspec.Delete(lockspec.Param("id").Map(nil)), request{"param id": "3"}, "", "mapped by no function"},
	} {
		t.Run(c.what, func(t *testing.T) {
			found := forest{":abc": "plans/p /a", ":3": nodes[":3"], ":4": nodes[":4"]}
			b, err := c.spec.Bind(c.req.get, found.resolve)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %v, want %q", err, c.says)
				}
				return
			}
			if err != nil || describe(b.Requests) != c.want {
				t.Errorf("\n got %q, %v\nwant %q", describe(b.Requests), err, c.want)
			}
		})
	}
	rename := lockspec.Rename(lockspec.Param("id"), name)
	name.Map(strings.ToUpper)
	b, err := rename.Bind(request{"param id": "3", "json name": " n"}.get, nodes.resolve)
	if got := describe(b.Requests); err != nil || got != "plans/p: X /a/b, X /a/n" {
		t.Errorf("Map changed the source that it was called on: %q, %v", got, err)
	}
}
