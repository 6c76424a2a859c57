package lockspec_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// A route that renames a suite says where the id and the new name are. Bound to a request, that is
// what the request has to lock.
func ExampleSpec_Bind() {
	spec := lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))

	// The middleware package has both functions for gin; these are for PATCH /suites/7 with the
	// body {"name": "smoke"}.
	get := func(src lockspec.Source) (string, bool, error) {
		if src.From() == lockspec.FromJSON {
			return lockspec.JSONField([]byte(`{"name": "smoke"}`), src.Name())
		}
		return "7", true, nil
	}
	resolve := func(kind, id string) (pathlock.Location, error) {
		plan, err := pathlock.NewTree("testplan", "plan-001")
		return pathlock.Location{Tree: plan, Path: pathlock.MustParsePath("/api/login")}, err
	}

	binding, err := spec.Bind(get, resolve)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, req := range binding.Requests {
		fmt.Println(req.Note, "in", req.Tree)
		for _, claim := range pathlock.Normalize(req.Claims...) {
			fmt.Println(" ", claim)
		}
	}
	// Output:
	// rename in testplan/plan-001
	//   IX /
	//   IX /api
	//   X /api/login
	//   X /api/smoke
}

// A tree without a root row has its rows at the top, and a client that wants a node there leaves
// the parent's id out or says null. The plan in the URL says which tree is meant.
func ExampleSource_OrTop() {
	plan := lockspec.Param("plan").Kind("plan")
	spec := lockspec.Insert(lockspec.JSON("parent_id").OrTop(plan), lockspec.JSON("name").Map(strings.TrimSpace))

	for _, body := range []string{`{"parent_id": 17, "name": "smoke"}`, `{"parent_id": null, "name": " smoke "}`} {
		get := func(src lockspec.Source) (string, bool, error) {
			if src.From() == lockspec.FromJSON {
				return lockspec.JSONField([]byte(body), src.Name())
			}
			return "001", true, nil
		}
		resolve := func(kind, id string) (pathlock.Location, error) {
			if kind == "plan" {
				tree, err := pathlock.NewTree("testplan", "plan-"+id)
				return pathlock.Location{Tree: tree}, err
			}
			tree, err := pathlock.NewTree("testplan", "plan-001")
			return pathlock.Location{Tree: tree, Path: pathlock.MustParsePath("/api")}, err
		}
		binding, err := spec.Bind(get, resolve)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(binding.Requests[0].Tree, binding.Requests[0].Claims)
	}
	// Output:
	// testplan/plan-001 [X /api/smoke]
	// testplan/plan-001 [X /smoke]
}

// The more an operation says, the less it locks.
func ExampleOperation_Claims() {
	move := lockspec.Operation{
		Kind: lockspec.OpMove,
		Node: pathlock.MustParsePath("/inbox/report"),
		Dest: pathlock.MustParsePath("/archive"),
	}
	fmt.Println(move.Claims(lockspec.ParentExclusive))
	fmt.Println(move.Claims(lockspec.NameSlot))
	// Output:
	// [X /inbox/report X /archive]
	// [X /inbox/report X /archive/report]
}

// A program compares its table with the routes that it serves when it starts.
func ExampleTable_Check() {
	id := lockspec.Param("id")
	table := lockspec.Table{
		"PATCH /suites/:id":     lockspec.Rename(id, lockspec.JSON("name")),
		"POST /suites/:id/move": lockspec.Move(id, lockspec.JSON("parent_id")),
		"DELETE /recycle-bin":   lockspec.None("touches no live path"),
		"DELETE /suites/:suite": lockspec.Delete(id),
	}
	err := table.Check([]lockspec.Route{
		{Method: "GET", Path: "/suites/:id"},
		{Method: "PATCH", Path: "/suites/:id"},
		{Method: "DELETE", Path: "/suites/:suite"},
		{Method: "POST", Path: "/suites/:id/copy"},
		{Method: "DELETE", Path: "/recycle-bin"},
	})
	fmt.Println(err)
	// Output:
	// lockspec: the route table is wrong:
	// 	POST /suites/:id/copy: has no spec; if it needs no lock, say so with None
	// 	POST /suites/:id/move: there is no such route
	// 	DELETE /suites/:suite: the spec needs the parameter "id", which the route does not have
}

// A route can do several things at once: this one renames a plan, which takes the names of its
// project and the whole plan.
func ExampleAll() {
	spec := lockspec.All(
		lockspec.Names("project", lockspec.Const("42")),
		lockspec.Gate(lockspec.Const("7").Kind("plan")),
	).Note("rename plan")
	binding, err := spec.Bind(nil, func(kind, id string) (pathlock.Location, error) {
		plan, err := pathlock.NewTree("testplan", id)
		return pathlock.Location{Tree: plan}, err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, req := range binding.Requests {
		fmt.Printf("%s: the gate of %s\n", req.Note, req.Tree)
	}
	// Output:
	// rename plan: the gate of project/42
	// rename plan: the gate of testplan/7
}

// The plugin asserts in the transaction of a rename that every path is still the one that the work
// was planned on. So the middleware need not look at the node a second time under its lock.
func ExampleSpec_Asserted() {
	rename := lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name")).Asserted()
	export := lockspec.Read(lockspec.Param("id"))
	fmt.Println(rename.IsAsserted(), export.IsAsserted())
	fmt.Println(export.Asserted().Check())
	// Output:
	// true false
	// lockspec: invalid spec: a read writes nothing that could be asserted
}

// The finer rule needs the name, and the snapshot needs a handler that reads the source at one
// instant.
func ExampleSpec_SnapshotSource() {
	copySuite := lockspec.Copy(lockspec.Const("17"), lockspec.Const("18"), lockspec.Const("copy"))
	for _, spec := range []lockspec.Spec{copySuite, copySuite.ParentExclusive(), copySuite.SnapshotSource()} {
		binding, err := spec.Bind(nil, func(_, id string) (pathlock.Location, error) {
			plan, err := pathlock.NewTree("testplan", "plan-001")
			return pathlock.Location{Tree: plan, Path: pathlock.MustParsePath("/suite " + id)}, err
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(binding.Requests[0].Claims)
	}
	// Output:
	// [S /suite 17 X /suite 18/copy]
	// [S /suite 17 X /suite 18]
	// [X /suite 18/copy]
}

// A route that may well change something says why it needs no lock.
func ExampleNone() {
	spec := lockspec.None("touches no live path")
	reason, exempt := spec.Exempt()
	fmt.Println(exempt, reason)
	fmt.Println(lockspec.None("").Check())
	// Output:
	// true touches no live path
	// lockspec: invalid spec: none without a reason
}

// The id of the node may be somewhere that only the program knows, such as in the name of the host.
func ExampleFunc() {
	tenant := lockspec.Func("tenant", func(r *http.Request, _ func(string) string) (string, bool, error) {
		name, _, ok := strings.Cut(r.Host, ".")
		return name, ok, nil
	})
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "http://acme.example.org/suites", nil)
	value, ok, err := tenant.Extract(r, nil)
	fmt.Println(value, ok, err)
	// Output: acme true <nil>
}

// A body in which two decoders could find two names is refused: the name that is locked has to be
// the one that is written.
func ExampleJSONFields() {
	for _, body := range []string{
		`{"name": "smoke", "target": {"parent_id": 90071992547409931}}`,
		`{"name": "smoke", "Name": "login"}`,
		`{"name": "smoke"`,
	} {
		values, err := lockspec.JSONFields([]byte(body), "name", "target.parent_id")
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(values[0].Text, values[1].Text)
	}
	// Output:
	// smoke 90071992547409931
	// lockspec: invalid request: name: the key "Name" occurs twice in one object, in whichever case of letters
	// lockspec: invalid request: malformed JSON: it ends too early
}

// A handler that reads a text itself refuses what the spec would refuse: half of a surrogate pair
// decodes to the same text as any other half.
func ExampleJSONText() {
	for _, value := range []string{`"caf\u00e9"`, `"\ud83d"`, `7`} {
		text, err := lockspec.JSONText([]byte(value))
		fmt.Println(text, err)
	}
	// Output:
	// café <nil>
	//  lockspec: invalid request: has half of a surrogate pair, which is no character
	//  lockspec: invalid request: is not a text
}
