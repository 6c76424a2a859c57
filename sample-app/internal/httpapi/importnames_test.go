package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
)

// Names become suites and cases, with what is above them. What is there already stays.
func TestImportOfNames(t *testing.T) {
	for _, backend := range apitest.Backends(t) {
		t.Run(backend.Name, func(t *testing.T) {
			api := apitest.Start(t, instance.Config{DB: backend.DB, Locks: backend.Locks, Assert: true})
			ids := fixture(t, api, "import")
			for _, s := range []step{
				{request: `POST /api/plans/{plan}/import {"suites":["a/b","x/y/z"],"cases":[{"path":"a/b/k","body":"other"},{"path":"x/y/n","body":"1"},{"path":"top"}]}`, status: 200, want: `{"suites":3,"cases":2}`},
				{
					request: `GET /api/plans/{plan}/tree`, status: 200,
					want: `{"suites":[{"path":""},{"path":"/a"},{"path":"/a/b"},{"path":"/a/b/c"},{"path":"/d"},{"path":"/x"},{"path":"/x/y"},{"path":"/x/y/z"}]}`,
				},
				{request: `GET /api/suites/{b}/cases`, status: 200, want: `{"cases":[{"id":{k},"body":"steps"}]}`},
				{request: `GET /api/suites/{root}/cases`, status: 200, want: `{"cases":[{"name":"top","body":""}]}`},
				{request: `POST /api/plans/{plan}/import {"suites":["a/b","x/y/z"],"cases":[{"path":"x/y/n","body":"2"},{"path":"x/y/n"}]}`, status: 200, want: `{"suites":0,"cases":0}`},
				{request: `POST /api/plans/{plan}/import {}`, status: 400, problem: "invalid-request", field: "suites"},
				{request: `POST /api/plans/{plan}/import {"suites":"a"}`, status: 400, problem: "invalid-request", field: "suites"},
				{request: `POST /api/plans/{plan}/import {"suites":[7]}`, status: 400, problem: "invalid-request", field: "suites[0]"},
				{request: `POST /api/plans/{plan}/import {"suites":["/a"]}`, status: 400, problem: "invalid-request", field: "suites"},
				{request: `POST /api/plans/{plan}/import {"suites":["a/../b"]}`, status: 400, problem: "invalid-request", field: "suites"},
				{request: `POST /api/plans/{plan}/import {"suites":[""]}`, status: 400, problem: "invalid-request", field: "suites"},
				{request: `POST /api/plans/{plan}/import {"cases":[{}]}`, status: 400, problem: "invalid-request", field: "cases"},
				{request: `POST /api/plans/{plan}/import {"cases":["a"]}`, status: 400, problem: "invalid-request", field: "cases[0]"},
				{request: `POST /api/plans/{plan}/import {"suites":["` + strings.Repeat("a/", 64) + `a"]}`, status: 400, problem: "invalid-request", field: "suites"},
				{request: `POST /api/plans/{plan}/import {"suites":["x"` + strings.Repeat(`,"x"`, 1000) + `]}`, status: 400, problem: "invalid-request", field: "suites"},
				{request: `POST /api/plans/999999/import {"suites":["x"]}`, status: 404, problem: "not-found"},
				{request: `GET /api/projects`, status: 200, want: `{"projects":[{"name":"import","plans":2}]}`},
				{request: `GET /api/plans/{plan}/fsck`, status: 200, want: `{"problems":[]}`},
			} {
				s.run(t, api, "import", ids)
			}
			// As many as a request may name, at two depths.
			var names []string
			for i := range 999 {
				names = append(names, fmt.Sprintf(`"many/%d"`, i))
			}
			step{request: `POST /api/plans/{plan}/import {"suites":[` + strings.Join(names, ",") + `]}`, status: 200, want: `{"suites":1000,"cases":0}`}.run(t, api, "", ids)
		})
	}
}

// Somebody's lock keeps an import out of what is locked, and of nothing else.
func TestAnImportRespectsLocks(t *testing.T) {
	lockers(t, func(p *pair) {
		token, _ := p.lock("a", `{"for":"10m"}`)
		p.is(p.there, `POST /api/plans/{plan}/import {"suites":["a/new"]}`, "", 423, "locked")
		p.is(p.there, `POST /api/plans/{plan}/import {"suites":["d/new"]}`, "", 200, "")
		p.is(p.here, `DELETE /api/suites/{a}/lock`, token, 204, "")
		p.is(p.there, `POST /api/plans/{plan}/import {"suites":["a/new"]}`, "", 200, "")
	})
}
