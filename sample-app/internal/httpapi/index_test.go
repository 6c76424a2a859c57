package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// The address itself lists the routes.
func TestTheIndexSaysWhatThereIs(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	for accept, isJSON := range map[string]bool{
		"": false, "*/*": false, "text/html,application/xhtml+xml,*/*;q=0.8": false, "text/plain": false, "application/json": true, "image/png": false,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, api.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", accept)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if got := strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json"); resp.StatusCode != http.StatusOK || got != isJSON {
			t.Errorf("Accept %q: %s, %s", accept, resp.Status, resp.Header.Get("Content-Type"))
		}
	}
	http.DefaultClient.CloseIdleConnections()
	text := string(api.Do(t, "GET", "/", "").Body)
	for _, want := range []string{"PATCH  /api/suites/:id ", "DELETE /api/plans/:plan/recycle-bin\n", "GET    /metrics\n", "no authentication"} {
		if !strings.Contains(text, want) {
			t.Errorf("the index does not say %q:\n%s", want, text)
		}
	}
}

// The routes accept the bodies that the index shows.
func TestTheBodiesOfTheIndexAreTaken(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, api.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer func() { _ = resp.Body.Close() }()
	var index struct {
		Routes []struct{ Method, Path, Body string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&index); err != nil {
		t.Fatal(err)
	}
	known := strings.NewReplacer(":project", "demo", ":plan", "99", ":id", "99", ":item", "99")
	for _, r := range index.Routes {
		writes := r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch
		if wants := writes && !strings.HasSuffix(r.Path, "/restore"); wants != (r.Body != "") {
			t.Errorf("%s %s has the body %q", r.Method, r.Path, r.Body)
		}
		if r.Body == "" {
			continue
		}
		// There is no such plan, suite or case, but a wrong body would be noticed first.
		if answer := api.Do(t, r.Method, known.Replace(r.Path), r.Body); answer.Status != http.StatusNotFound && answer.Status != http.StatusCreated {
			t.Errorf("%s %s %s: %d %s", r.Method, r.Path, r.Body, answer.Status, answer.Body)
		}
	}
}
