package readme

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/treeschema"
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
	// answers counts the statuses.
	mu      sync.Mutex
	answers map[int]int
}

func newWikis(t *testing.T, addrs ...string) *wikis {
	return &wikis{t: t, addrs: addrs, answers: map[int]int{}}
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
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[status]++
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

// measured adds up a metric over all instances. The series are those that begin with prefix.
func (w *wikis) measured(prefix string) (sum float64) {
	w.t.Helper()
	for _, addr := range w.addrs {
		_, metrics := exchange(w.t, addr, "GET", "/metrics", "")
		for line := range strings.Lines(string(metrics)) {
			if fields := strings.Fields(line); strings.HasPrefix(line, prefix) {
				value, err := strconv.ParseFloat(fields[len(fields)-1], 64)
				if err != nil {
					w.t.Error(err)
				}
				sum += value
			}
		}
	}
	return sum
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

// storm makes rounds until enough says so of their number, or the tree is corrupted, and returns
// what is wrong then.
func (w *wikis) storm(enough func(rounds int) bool) (wrong []string) {
	w.t.Helper()
	root, n := w.pages()[0].ID, 0
	for ; len(wrong) == 0 && !enough(n); n++ {
		w.round(root, n)
		wrong = corruptions(w.pages())
	}
	w.t.Logf("%d rounds: %q, answers %v", n, wrong, w.answers)
	return wrong
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

// The naive wiki of docs/adopting.md corrupts its tree, and so does a naive instance beside an
// adopted one. Adopted instances don't: neither with the assertion alone, nor with locks, nor while
// only some of them have locks. What the page says about measuring counts their collisions.
func TestAdoptingKeepsTheTreeRight(t *testing.T) {
	naive, adopted := built(t, filepath.Join("adopting", "naive")), built(t, filepath.Join("adopting", "adopted"))
	storms := func(t *testing.T, fresh func(t *testing.T) []string, locks []string) {
		for _, c := range []struct {
			what     string
			corrupts bool
			programs []string
			flags    [][]string
			// collisions is the metric that counts them.
			collisions string
		}{
			{"naive", true, []string{naive, naive}, [][]string{nil, nil}, ""},
			{"naive beside adopted", true, []string{naive, adopted}, [][]string{nil, locks}, ""},
			{"the assertion alone", false, []string{adopted, adopted}, [][]string{nil, nil}, `pathlock_assertion_failures_total{attempt="1"`},
			{"locks in one of two", false, []string{adopted, adopted}, [][]string{nil, locks}, ""},
			{"locks and assertion", false, []string{adopted, adopted}, [][]string{locks, locks}, "pathlock_wait_duration_seconds_count"},
		} {
			t.Run(c.what, func(t *testing.T) {
				database := fresh(t)
				var addrs []string
				for i, program := range c.programs {
					if i > 0 && c.programs[0] == naive && program == adopted {
						recollate(t, database)
					}
					addrs = append(addrs, run(t, program, append(c.flags[i], database...)...))
				}
				w := newWikis(t, addrs...)
				if c.corrupts {
					w.storm(func(int) bool { return false }) // until it does
					return
				}
				wrong := w.storm(func(rounds int) bool {
					return rounds >= 20 && (c.collisions == "" || w.measured(c.collisions) > 0)
				})
				if len(wrong) > 0 {
					t.Errorf("wrong is %q", wrong)
				}
				for status, count := range w.answers {
					if status != http.StatusOK && status != http.StatusConflict && status != http.StatusLocked {
						t.Errorf("%d answers %d", count, status)
					}
				}
			})
		}
	}
	locks := []string{"--locks", testserver.Redis(t)}
	t.Run("SQLite", func(t *testing.T) {
		storms(t, func(t *testing.T) []string { return []string{"--sqlite", filepath.Join(t.TempDir(), "wiki.db")} }, locks)
	})
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		storms(t, func(t *testing.T) []string { return []string{"--mysql", emptyDatabase(t, server.DSN)} }, locks)
	})
}

// recollate runs the statements of step 2 of docs/adopting.md that change columns, where the wiki
// is in a database of MySQL or MariaDB.
func recollate(t *testing.T, flags []string) {
	t.Helper()
	if flags[0] != "--mysql" {
		return
	}
	db, err := sql.Open("mysql", flags[1])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var version string
	if err := db.QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{"name varchar(255)", "path varchar(700)"} {
		statement := "ALTER TABLE pages MODIFY " + column + " CHARACTER SET utf8mb4 COLLATE " + treeschema.BinaryMySQL(version)
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
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
