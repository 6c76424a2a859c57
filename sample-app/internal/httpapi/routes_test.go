package httpapi_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// The index lists every route. The routes take the bodies that it shows, and HEAD is wherever GET
// is: it answers with the same status and type, and no body.
func TestIndex_isTrue(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "p")
	existing := strings.NewReplacer(":project", "p", ":plan", fmt.Sprint(ids["plan"]), ":id", fmt.Sprint(ids["a"]), ":file", "main.js")
	missing := strings.NewReplacer(":project", "demo", ":plan", "99", ":id", "99", ":item", "99")
	index := api.Do(t, "GET", "/", "").Body
	if string(api.Do(t, "GET", "/routes", "", "Accept", asBrowser).Body) != string(index) {
		t.Error("a browser gets another index at /routes than programs get at /")
	}
	listed := regexp.MustCompile(`(?m)^([A-Z]+) +(/\S*) *(.*)$`).FindAllStringSubmatch(string(index), -1)
	if len(listed) < 30 {
		t.Errorf("the index has %d routes", len(listed))
	}
	for _, line := range listed {
		method, route, body := line[1], line[2], line[3]
		writes := method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
		if wants := writes && !strings.HasSuffix(route, "/restore"); wants != (body != "") {
			t.Errorf("%s %s has the body %q", method, route, body)
		}
		if method == http.MethodGet {
			path := existing.Replace(route)
			get, head := api.Do(t, "GET", path, ""), api.Do(t, "HEAD", path, "")
			if head.Status != get.Status || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") || len(head.Body) > 0 {
				t.Errorf("HEAD %s: %d %v, GET: %d", path, head.Status, head.Header, get.Status)
			}
		}
		if body == "" {
			continue
		}
		// There is no such plan, suite or case, but a wrong body would be noticed first.
		if answer := api.Do(t, method, missing.Replace(route), body); answer.Status != http.StatusNotFound && answer.Status != http.StatusCreated {
			t.Errorf("%s: %d %s", line[0], answer.Status, answer.Body)
		}
	}
}

// Where names are listed, the server answers under these alone, as behind a proxy. Unless it is
// told otherwise, nobody releases locks of others there.
func TestHosts_areAnswered(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true, Hosts: []string{"plans.example"}})
	for host, status := range map[string]int{"plans.example:443": http.StatusOK, "localhost": http.StatusMisdirectedRequest} {
		for _, path := range []string{"/healthz", "/admin/locks/"} {
			if answer := api.Do(t, "GET", path, "", "Host", host); answer.Status != status {
				t.Errorf("GET %s as %s: %d, want %d", path, host, answer.Status, status)
			}
		}
	}
	release := api.Do(t, "POST", "/admin/locks/api/release", `{"namespace":"a","id":"b","key":"c","reason":"because"}`, "Host", "plans.example", "Content-Type", "application/json")
	if release.Status != http.StatusForbidden || !strings.Contains(string(release.Body), "read-only") {
		t.Errorf("release: %d %s", release.Status, release.Body)
	}
}
