package readme

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/program"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// The adopted wiki of docs/adopting.md answers what the naive one answers: the same statuses, and
// the same bodies where a request succeeds.
func TestTheAdoptedWikiAnswersAsBefore(t *testing.T) {
	naive, adopted := wiki(t, "naive"), wiki(t, "adopted")
	compare := func(t *testing.T, fresh func(t *testing.T) []string) {
		var answers [2][]string
		for i, wiki := range []string{naive, adopted} {
			t.Run([]string{"naive", "adopted"}[i], func(t *testing.T) { answers[i] = dialogue(t, program.Serve(t, wiki, fresh(t)...)) })
		}
		for i, before := range answers[0] {
			if i >= len(answers[1]) || answers[1][i] != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, answers[1][min(i, len(answers[1])-1)])
			}
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		compare(t, func(t *testing.T) []string { return []string{"--sqlite", filepath.Join(t.TempDir(), "wiki.db")} })
	})
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		compare(t, func(t *testing.T) []string { return []string{"--mysql", emptyDatabase(t, server.DSN)} })
	})
}

// wiki builds one of the two programs.
func wiki(t *testing.T, which string) string {
	t.Helper()
	return program.Build(t, "integration", "readme", "adopting", which)
}

// dialogue sends a fresh wiki one request after the other, and returns each with its answer. A
// failure has no body here: the page says that it has another one.
func dialogue(t *testing.T, addr string) (answers []string) {
	t.Helper()
	for _, r := range []struct{ method, target, body string }{
		{"POST", "/pages", `{"parent_id":1,"name":"notes","body":"my text"}`},
		{"POST", "/pages", `{"parent_id":2,"name":"draft","body":"and more"}`},
		{"POST", "/pages", `{"parent_id":1,"name":"archive","body":"old text"}`},
		{"PATCH", "/pages/2", `{"name":"papers"}`},
		{"PATCH", "/pages/2", `{"name":"papers"}`},
		{"POST", "/pages/2/move", `{"parent_id":4}`},
		{"POST", "/pages/2/move", `{"parent_id":4}`},
		{"GET", "/spaces/1/pages", ""},
		{"POST", "/pages", `{"parent_id":1,"name":"archive"}`},
		{"POST", "/pages", `{"parent_id":99,"name":"lost"}`},
		{"POST", "/pages", `no page`},
		{"POST", "/pages/4/move", `{"parent_id":3}`},
		{"POST", "/pages/2/move", `{"parent_id":99}`},
		{"PATCH", "/pages/99", `{"name":"lost"}`},
		{"DELETE", "/pages/2", ""},
		{"DELETE", "/pages/2", ""},
		{"GET", "/spaces/1/pages", ""},
	} {
		status, body := exchange(t, addr, r.method, r.target, r.body)
		if status != http.StatusOK {
			body = nil
		}
		answers = append(answers, fmt.Sprintf("%s %s %s: %d %s", r.method, r.target, r.body, status, body))
	}
	return answers
}
