package lockspec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/lockspec"
)

func TestSpecCheck(t *testing.T) {
	id, name := lockspec.Param("id"), lockspec.JSON("name")
	for _, c := range []struct {
		what string
		spec lockspec.Spec
		says string
	}{
		{"none", lockspec.None("reads only"), ""},
		{"the zero spec", lockspec.Spec{}, "it is empty"},
		{"the zero spec in all", lockspec.All(lockspec.Edit(id), lockspec.Spec{}), "it is empty"},
		{"none without a reason", lockspec.None(" "), "without a reason"},
		{"the zero source", lockspec.Delete(lockspec.Source{}), "delete: a source is missing"},
		{"a parameter without a name", lockspec.Delete(lockspec.Param("")), "a param source has no name"},
		{"a function that is none", lockspec.Delete(lockspec.Func("project", nil)), `"project" has no function`},
		{"two names", lockspec.Copy(id, id, name, name), "2 names given"},
		{"a snapshot of a move", lockspec.Move(id, id).SnapshotSource(), "only a copy"},
		{"an asserted read", lockspec.Read(id).Asserted(), "a read writes nothing"},
		{"names of too long a namespace", lockspec.Names(strings.Repeat("n", 256), id), "256 bytes long"},
		{"JSON here and a form there", lockspec.All(lockspec.Rename(id, name), lockspec.Delete(lockspec.Form("other").Optional())), "either JSON or a form"},
		{"a form, and the tree of the top in JSON", lockspec.Move(id, lockspec.Form("to").OrTop(name)), "either JSON or a form"},
		{"an insert at the top of no tree", lockspec.Insert(id.OrTop(), name), "by Const if there is only one tree"},
		{"two trees for the top", lockspec.Move(id, id.OrTop(id, id)), "given 2 trees"},
		{"an optional tree for the top", lockspec.Insert(id.OrTop(id.Optional()), name), "may itself be missing"},
		{"a tree for the top that is no source", lockspec.Move(id, id.OrTop(lockspec.Source{})), "a source is missing"},
		{"a node at the top", lockspec.Delete(id.OrTop()), "OrTop is for the parent"},
		{"a node by a path of no kind", lockspec.Delete(id.Path()), "Path is for nodes"},
		{"a parent by a path of no tree", lockspec.Insert(name.Path()), "needs the tree"},
		{"a path or the top", lockspec.Insert(name.Path("dir").OrTop(id)), "without OrTop"},
		{"a name that is a path", lockspec.Rename(id, name.Path("dir")), "Path is for nodes"},
		{"a project that is a path", lockspec.Names("project", id.Path("dir")), "Path is for nodes"},
		{"a list that is a parameter", lockspec.Delete(id.Each()), "Each is for JSON"},
		{"a JSON list with commas", lockspec.Delete(name.Each(",")), "Each takes one,"},
		{"a list without separator", lockspec.Delete(lockspec.Query("ids").Each("")), "Each takes one,"},
		{"one name for several nodes", lockspec.Move(name.Each(), id, name), "without a new name"},
		{"several destinations", lockspec.Move(id, name.Each()), "without a new name"},
		{"several parents", lockspec.Insert(name.Each()), "without a new name"},
		{"several nodes renamed", lockspec.Rename(name.Each()), "without a new name"},
		{"the longest note", lockspec.Edit(id).Note(strings.Repeat("x", 512)), ""},
		{"too long a note", lockspec.Edit(id).Note(strings.Repeat("x", 513)), "note is 513 bytes"},
	} {
		t.Run(c.what, func(t *testing.T) {
			err := c.spec.Check()
			if (err == nil) != (c.says == "") || err != nil && (!errors.Is(err, lockspec.ErrSpec) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// Specs are values: what is derived from one leaves it as it was.
func TestSpec_isImmutable(t *testing.T) {
	req := request{"param id": "3", "json parent_id": "4", "json name": "n"}
	bind := func(s lockspec.Spec) string {
		b, err := req.bind(s, nodes)
		testerr.Must(t, err)
		return describe(b) + " " + b.Requests[0].Note
	}
	id := lockspec.Param("id")
	base := lockspec.Copy(id, lockspec.JSON("parent_id"), lockspec.JSON("name"))
	all := lockspec.All(base, lockspec.Edit(id), lockspec.Edit(id))
	for _, c := range []struct {
		spec lockspec.Spec
		want string
	}{
		{all.ParentExclusive(), "plans/p: S /a/b, X /d, IX /a/b copy, edit"},
		{all.SnapshotSource(), "plans/p: X /d/n, IX /a/b copy, edit"},
		{base.Note("clone"), "plans/p: S /a/b, X /d/n clone"},
		{lockspec.All(base.Note("clone"), lockspec.Edit(id).Note("stamp")), "plans/p: S /a/b, X /d/n, IX /a/b clone, stamp"},
		{lockspec.Names("project", lockspec.Const("1")), "project/1: gate names"},
		{base, "plans/p: S /a/b, X /d/n copy"},
		{all, "plans/p: S /a/b, X /d/n, IX /a/b copy, edit"},
	} {
		if got := bind(c.spec); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestAll_exempt(t *testing.T) {
	none := lockspec.None("a")
	reason, ok := lockspec.All(none, lockspec.None("b")).Exempt()
	if other, also := lockspec.All(none, lockspec.Edit(lockspec.Param("id"))).Exempt(); reason != "a, b" || !ok || also {
		t.Errorf("got %q %t, and %q %t beside an edit", reason, ok, other, also)
	}
}

// A spec is asserted as a whole or not at all: the nodes of a part without assertion must be looked
// up again. A part that needs no lock depends on no node.
func TestSpecIsAssertedIfAllOfItIs(t *testing.T) {
	edit, none := lockspec.Edit(lockspec.Param("id")), lockspec.None("reads only")
	base := lockspec.Delete(lockspec.Param("id"))
	asserted := base.Asserted()
	for _, yes := range []lockspec.Spec{asserted, lockspec.All(asserted, edit.Asserted()), lockspec.All(base, edit).Asserted(), lockspec.All(asserted, none)} {
		if !yes.IsAsserted() {
			t.Errorf("not asserted: %+v", yes)
		}
	}
	for _, no := range []lockspec.Spec{base, lockspec.All(asserted, edit), none.Asserted()} {
		if no.IsAsserted() {
			t.Errorf("asserted: %+v", no)
		}
	}
}

const noRoute = "not a method in capitals, one space, and a path that begins with a slash"

func TestTableCheck(t *testing.T) {
	rename := lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))
	const noSpec = ": has no spec; if it needs no lock, say so with None"
	for _, c := range []struct {
		what   string
		table  lockspec.Table
		routes []string
		want   []string
	}{
		{
			"every method that may change something", nil,
			[]string{"POST /a", "PUT /a", "PATCH /a", "DELETE /a", "MKCOL /a", "MOVE /a", "GET /a", "HEAD /a", "OPTIONS /a", "PROPFIND /a"},
			[]string{"DELETE /a" + noSpec, "MKCOL /a" + noSpec, "MOVE /a" + noSpec, "PATCH /a" + noSpec, "POST /a" + noSpec, "PUT /a" + noSpec},
		},
		{
			"an entry without a route",
			lockspec.Table{"PATCH /suite/:id": rename, "PUT /suites/:id": rename},
			[]string{"PATCH /suites/:id"},
			[]string{"PATCH /suite/:id: there is no such route", "PATCH /suites/:id" + noSpec, "PUT /suites/:id: there is no such route"},
		},
		{
			"parameters of every form",
			lockspec.Table{"PATCH /a/*id": rename, "PATCH /e/v:id": rename, "PATCH /f/:idx": rename, "POST /g": lockspec.Insert(lockspec.JSON("to").OrTop(lockspec.Param("id")))},
			[]string{"PATCH /a/*id", "PATCH /e/v:id", "PATCH /f/:idx", "POST /g"},
			[]string{
				`PATCH /f/:idx: the spec needs the parameter "id", which the route does not have`,
				`POST /g: the spec needs the parameter "id", which the route does not have`,
			},
		},
		{
			"a body that handlers do not read",
			lockspec.Table{"GET /a/:id": rename, "HEAD /b": lockspec.Read(lockspec.Form("id")), "POST /a/:id": rename, "DELETE /a/:id": rename},
			[]string{"GET /a/:id", "HEAD /b", "POST /a/:id", "DELETE /a/:id"},
			[]string{
				"GET /a/:id: the spec needs json name, and the body of a GET means nothing",
				"HEAD /b: the spec needs form id, and the body of a HEAD means nothing",
			},
		},
		{
			"keys that are no routes, and a spec that makes no sense",
			lockspec.Table{" /b": rename, "patch /c": rename, "PATCH d": rename, "PATCH /f /g": rename, "POST /h": {}},
			[]string{"POST /h"},
			[]string{
				" /b: " + noRoute, "patch /c: " + noRoute, "PATCH /f /g: " + noRoute,
				"POST /h: lockspec: invalid spec: it is empty; use None for a route that needs no lock", "PATCH d: " + noRoute,
			},
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			err := c.table.Check(c.routes)
			if want := "lockspec: the route table is wrong:\n\t" + strings.Join(c.want, "\n\t"); err == nil || err.Error() != want {
				t.Errorf("\n got %v\nwant %s", err, want)
			}
		})
	}
}
