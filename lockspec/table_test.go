package lockspec_test

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/lockspec"
)

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
				"POST /h: lockspec: invalid spec: it says nothing; a route that needs no lock says None", "PATCH d: " + noRoute,
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
