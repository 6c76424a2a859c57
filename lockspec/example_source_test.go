package lockspec_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/pathlock-go/pathlock/lockspec"
)

// Where the values are is said for each of them; a value that a request may lack is optional.
func ExampleSource() {
	spec := lockspec.Copy(lockspec.Query("from"), lockspec.Header("X-Target").Kind("folder"), lockspec.Form("name").Optional())
	for _, source := range spec.Sources() {
		fmt.Printf("%s: of kind %q\n", source, source.KindName())
	}
	// Output:
	// query from: of kind ""
	// header X-Target: of kind "folder"
	// form name: of kind ""
}

// A tree without a root row has its rows at the top, and a client that wants a node there leaves
// the parent's id out or says null. The plan in the URL says which tree is meant.
func ExampleSource_OrTop() {
	plan := lockspec.Const("/").Kind("plan")
	spec := lockspec.Insert(lockspec.JSON("parent_id").OrTop(plan), lockspec.JSON("name").Map(strings.TrimSpace))

	for _, body := range []string{`{"parent_id": "/api", "name": "smoke"}`, `{"parent_id": null, "name": " smoke "}`} {
		values, err := spec.Read(func(src lockspec.Source) (string, bool, error) {
			values, err := lockspec.JSONFields([]byte(body), src.Name())
			return values[0].Text, values[0].OK, err
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
		fmt.Println(binding.Requests[0].Tree, binding.Requests[0].Claims)
	}
	// Output:
	// testplan/plan-001 [X /api/smoke]
	// testplan/plan-001 [X /smoke]
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
	// lockspec: invalid request: malformed JSON near byte 16
}

// A handler that reads a text itself refuses what the spec would refuse.
func ExampleJSONText() {
	for _, value := range []string{`"caf\u00e9"`, `"\ud83d"`} {
		text, err := lockspec.JSONText([]byte(value))
		fmt.Println(text, err)
	}
	// Output:
	// café <nil>
	//  lockspec: invalid request: has half of a surrogate pair, which is no character
}
