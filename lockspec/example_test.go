package lockspec_test

import (
	"fmt"
	"strings"

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

// bind is what package middleware does for gin: it binds a spec to a request. In the examples, each
// request is for the suite /api/login.
func bind(spec lockspec.Spec, body string) (lockspec.Binding, error) {
	values, err := spec.Read(func(src lockspec.Source) ([]string, error) {
		if src.From() != lockspec.FromJSON {
			return []string{"/api/login"}, nil
		}
		return lockspec.JSONValues([]byte(body), src)
	})
	if err != nil {
		return lockspec.Binding{}, err
	}
	return values.Bind(at)
}

// A route that renames a suite says where the id and the new name are. Bound to a request, that is
// what the request has to lock.
func ExampleSpec() {
	spec := lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))
	binding, err := bind(spec, `{"name": "smoke"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, req := range binding.Requests {
		fmt.Println(req.Note, "in", req.Tree, pathlock.Normalize(req.Claims...))
	}
	// Output:
	// rename in testplan/plan-001 [IX / IX /api X /api/login X /api/smoke]
}

// A tree without a root row has its rows at the top, and a client that wants a node there leaves
// the parent's id out or says null. The plan in the URL says which tree is meant.
func ExampleSource_OrTop() {
	plan := lockspec.Const("/").Kind("plan")
	spec := lockspec.Insert(lockspec.JSON("parent_id").OrTop(plan), lockspec.JSON("name").Map(strings.TrimSpace))

	for _, body := range []string{`{"parent_id": "/api", "name": "smoke"}`, `{"parent_id": null, "name": " smoke "}`} {
		binding, err := bind(spec, body)
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

// Clients of file managers name a folder by its path, and send an empty text for the top.
func ExampleSource_Path() {
	move := lockspec.Move(lockspec.JSON("id"), lockspec.JSON("dir").Path())
	binding, err := bind(move, `{"id": "/api/login", "dir": "web/forms/"}`)
	fmt.Println(binding.Requests[0].Claims, err)

	// A path without a node of the tree beside it needs a resolver that knows the tree.
	spec := lockspec.Insert(lockspec.JSON("dir").Path("dir"), lockspec.JSON("name"))
	for _, body := range []string{`{"dir": "/api", "name": "smoke"}`, `{"dir": "", "name": "smoke"}`, `{"name": "smoke"}`} {
		binding, err := bind(spec, body)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(binding.Requests[0].Claims)
	}
	// Output:
	// [X /api/login X /web/forms/login] <nil>
	// [X /api/smoke]
	// [X /smoke]
	// [X /smoke]
}

// One request deletes several suites, and locks them all at once or none.
func ExampleSource_Each() {
	spec := lockspec.Delete(lockspec.JSON("ids").Each())
	binding, err := bind(spec, `{"ids": ["/api/login", "/api/smoke", "/web"]}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pathlock.Normalize(binding.Requests[0].Claims...))
	// Output:
	// [IX / IX /api X /api/login X /api/smoke X /web]
}

// A body in which two decoders could find two names is refused: the name that is locked has to be
// the one that is written.
func ExampleJSONValues() {
	for _, body := range []string{
		`{"name": "smoke", "target": {"parent_id": 90071992547409931}}`,
		`{"target": {"parent_id": 1, "Parent_ID": 2}}`,
	} {
		fmt.Println(lockspec.JSONValues([]byte(body), lockspec.JSON("target.parent_id")))
	}
	// Output:
	// [90071992547409931] <nil>
	// [] lockspec: invalid request: target.parent_id: the key "Parent_ID" occurs twice in one object, regardless of letter case
}
