package lockspec_test

import (
	"fmt"

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
			values, err := lockspec.JSONFields([]byte(`{"name": "smoke"}`), src.Name())
			return values[0].Text, values[0].OK, err
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

// The ids of a request can be had before it is bound, to be found all at once.
func ExampleSpec_IDs() {
	move := lockspec.Move(lockspec.Param("id"), lockspec.JSON("parent_id").Kind("folder"))
	ids, err := move.IDs(func(src lockspec.Source) (string, bool, error) {
		value, ok := map[string]string{"id": "7", "parent_id": "12"}[src.Name()]
		return value, ok, nil
	})
	fmt.Printf("%+v %v\n", ids, err)
	// Output:
	// [{Kind: ID:7} {Kind:folder ID:12}] <nil>
}

// Each kind of operation locks what it changes, and what it relies on.
func ExampleSpec() {
	node, name := lockspec.Const("/api/login"), lockspec.Const("new")
	for _, spec := range []lockspec.Spec{
		lockspec.Read(node),
		lockspec.Edit(node),
		lockspec.Insert(node, name),
		lockspec.Rename(node, name),
		lockspec.Move(node, lockspec.Const("/archive")),
		lockspec.Copy(node, lockspec.Const("/archive")),
		lockspec.Delete(node),
		lockspec.Slot(node),
	} {
		binding, err := spec.Bind(nil, func(_, id string) (pathlock.Location, error) {
			plan, err := pathlock.NewTree("testplan", "plan-001")
			return pathlock.Location{Tree: plan, Path: pathlock.MustParsePath(id)}, err
		})
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
	// copy [S /api/login X /archive]
	// delete [X /api/login]
	// slot [X /api/login]
}
