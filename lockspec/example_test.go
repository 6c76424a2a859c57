package lockspec_test

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// at resolves every id to the path that it is.
func at(nodes []lockspec.Node) []pathlock.Resolution {
	found := make([]pathlock.Resolution, len(nodes))
	for i, n := range nodes {
		found[i].Tree, found[i].Err = pathlock.NewTree("testplan", "plan-001")
		found[i].Path = pathlock.MustParsePath(n.ID)
	}
	return found
}

// A route that renames a suite says where the id and the new name are. Bound to a request, that is
// what the request has to lock.
func ExampleSpec() {
	spec := lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))

	// Package middleware does this for gin. The request has the body {"name": "smoke"}.
	values, err := spec.Read(func(src lockspec.Source) (string, bool, error) {
		if src.From() == lockspec.FromJSON {
			values, err := lockspec.JSONFields([]byte(`{"name": "smoke"}`), src.Name())
			return values[0].Text, values[0].OK, err
		}
		return "/api/login", true, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	binding, err := values.Bind(at)
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
		lockspec.Gate(lockspec.Const("/").Kind("plan")),
	).Note("rename plan")
	values, err := spec.Read(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	binding, err := values.Bind(at)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, req := range binding.Requests {
		fmt.Printf("%s: the gate of %s\n", req.Note, req.Tree)
	}
	// Output:
	// rename plan: the gate of project/42
	// rename plan: the gate of testplan/plan-001
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

// Each kind of operation locks what it changes, and what it relies on.
func ExampleBinding() {
	node, dest, name := lockspec.Const("/api/login"), lockspec.Const("/archive"), lockspec.Const("new")
	for _, spec := range []lockspec.Spec{
		lockspec.Read(node),
		lockspec.Edit(node),
		lockspec.Insert(node, name),
		lockspec.Rename(node, name),
		lockspec.Move(node, dest),
		lockspec.Copy(node, dest, name),
		lockspec.Copy(node, dest, name).ParentExclusive(),
		lockspec.Copy(node, dest, name).SnapshotSource(),
		lockspec.Delete(node),
		lockspec.Slot(node),
	} {
		values, err := spec.Read(nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		binding, err := values.Bind(at)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(spec.Operation(), binding.Requests[0].Claims)
	}
	// Output:
	// read [S /api/login]
	// edit [IX /api/login]
	// insert [X /api/login/new]
	// rename [X /api/login X /api/new]
	// move [X /api/login X /archive/login]
	// copy [S /api/login X /archive/new]
	// copy [S /api/login X /archive]
	// copy [X /archive/new]
	// delete [X /api/login]
	// slot [X /api/login]
}
