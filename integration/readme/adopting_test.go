package readme

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// wikiPage is a page of the wiki that docs/adopting.md changes, as its programs answer it.
type wikiPage struct {
	ID       int64  `json:"id"`
	ParentID *int64 `json:"parent_id"`
	Name     string `json:"name"`
	Path     string `json:"path"`
}

// wikis are instances of the wiki on one database.
type wikis struct {
	t     *testing.T
	addrs []string
}

// exchange sends a request to a wiki, and returns the status and the body of its answer.
func exchange(t *testing.T, addr, method, target, body string) (status int, answer []byte) {
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+target, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	defer func() { _ = resp.Body.Close() }()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		t.Error(err)
	}
	return resp.StatusCode, answer
}

// ask sends a request to an instance, and decodes its answer into result if that is a success.
func (w *wikis) ask(instance int, method, target, body string, result any) int {
	status, answer := exchange(w.t, w.addrs[instance%len(w.addrs)], method, target, body)
	if status == http.StatusOK && result != nil {
		if err := json.Unmarshal(answer, result); err != nil {
			w.t.Errorf("%s %s: %v", method, target, err)
		}
	}
	return status
}

// create creates a page, and fails the test if it cannot.
func (w *wikis) create(parent int64, name string) int64 {
	w.t.Helper()
	var created wikiPage
	if status := w.ask(0, "POST", "/pages", fmt.Sprintf(`{"parent_id":%d,"name":%q}`, parent, name), &created); status != http.StatusOK {
		w.t.Fatalf("creating %s below %d: %d", name, parent, status)
	}
	return created.ID
}

// pages returns all pages of the wiki.
func (w *wikis) pages() (all []wikiPage) {
	w.t.Helper()
	if status := w.ask(0, "GET", "/spaces/1/pages", "", &all); status != http.StatusOK {
		w.t.Fatalf("the pages: %d", status)
	}
	return all
}

// round makes a small tree, and has the instances change it at once: two renames of its top, two
// pages of one name below it, and two moves that cross.
func (w *wikis) round(root int64, n int) {
	w.t.Helper()
	top := w.create(root, fmt.Sprint("top", n))
	a, b, c := w.create(top, "a"), w.create(top, "b"), w.create(top, "c")
	for _, parent := range []int64{a, b, c} {
		w.create(parent, "x")
	}
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i, r := range []struct{ method, target, body string }{
		{"PATCH", fmt.Sprint("/pages/", top), fmt.Sprintf(`{"name":"left%d"}`, n)},
		{"PATCH", fmt.Sprint("/pages/", top), fmt.Sprintf(`{"name":"right%d"}`, n)},
		{"POST", "/pages", fmt.Sprintf(`{"parent_id":%d,"name":"new"}`, a)},
		{"POST", "/pages", fmt.Sprintf(`{"parent_id":%d,"name":"new"}`, a)},
		{"POST", fmt.Sprintf("/pages/%d/move", b), fmt.Sprintf(`{"parent_id":%d}`, c)},
		{"POST", fmt.Sprintf("/pages/%d/move", c), fmt.Sprintf(`{"parent_id":%d}`, b)},
	} {
		all.Go(func() {
			<-begin
			w.ask(i, r.method, r.target, r.body, nil)
		})
	}
	close(begin)
	all.Wait()
}

// corruptions compares every page with its parent and its siblings.
func corruptions(pages []wikiPage) (wrong []string) {
	byID, names := map[int64]wikiPage{}, map[string]int64{}
	for _, p := range pages {
		byID[p.ID] = p
	}
	for _, p := range pages {
		if p.ParentID == nil {
			if p.Path != "" {
				wrong = append(wrong, fmt.Sprintf("the root %d is at %s", p.ID, p.Path))
			}
			continue
		}
		parent, found := byID[*p.ParentID]
		if !found {
			wrong = append(wrong, fmt.Sprintf("%s (%d) is an orphan", p.Path, p.ID))
		} else if want := parent.Path + "/" + p.Name; p.Path != want {
			wrong = append(wrong, fmt.Sprintf("%s (%d) should be %s", p.Path, p.ID, want))
		}
		place := fmt.Sprint(*p.ParentID, "/", p.Name)
		if other, taken := names[place]; taken {
			wrong = append(wrong, fmt.Sprintf("%d and %d have one name, %s, in one page", other, p.ID, p.Name))
		}
		names[place] = p.ID
	}
	return wrong
}

// emptyDatabase creates a database that ends with the test, and returns its DSN.
func emptyDatabase(t *testing.T, dsn string) string {
	t.Helper()
	const name = "pathlock_wiki"
	admin, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close() })
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if _, err := admin.ExecContext(context.Background(), "DROP DATABASE "+name); err != nil {
			t.Error(err)
		}
	})
	slash := strings.LastIndexByte(dsn, '/')
	return dsn[:slash+1] + name + dsn[slash+1:]
}
