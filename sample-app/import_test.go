package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// files are a small module with the features of real ones.
var files = map[string]string{
	"go.mod":                    "module m\n",
	"main.go":                   "package m\n",
	"m_test.go":                 "package m\n",
	"a/a_test.go":               "package a\n",
	"a/testdata/broken_test.go": "package",
	"a/b/c/d.go":                "package c\n",
	"doc/readme.txt":            "text",
	".git/objects/x_test.go":    "package x\nfunc TestX() {}\n",
	"bad /x_test.go":            "package x\nfunc TestX() {}\n",
	"bad\xff/x_test.go":         "package x\nfunc TestX() {}\n",
}

func writeFiles(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		testerr.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testerr.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

func opened(t *testing.T, db string) *instance.Instance {
	t.Helper()
	i, err := instance.Open(t.Context(), instance.Config{DB: db, Locks: "memory://", Assert: true, Log: slog.New(slog.DiscardHandler)})
	testerr.Must(t, err)
	t.Cleanup(func() {
		testerr.None(t, i.Close())
	})
	return i
}

// paths returns the paths of the imported plan's suites and cases.
func paths(t *testing.T, service *plans.Service) (suites, cases []string) {
	t.Helper()
	all, err := service.Plans(t.Context(), "default")
	testerr.Must(t, err)
	i := slices.IndexFunc(all, func(p plans.Plan) bool { return p.Name == "m" })
	if i < 0 {
		t.Fatal("there is no plan m")
	}
	tree, err := service.Tree(t.Context(), all[i].ID)
	testerr.Must(t, err)
	for _, s := range tree {
		if !s.IsRoot() {
			suites = append(suites, s.Path)
		}
		found, err := service.Cases(t.Context(), s.ID)
		testerr.Must(t, err)
		for _, c := range found {
			cases = append(cases, c.Path)
		}
	}
	report, err := service.Check(t.Context(), all[i].ID)
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("the check says %v, %v", report, err)
	}
	return suites, cases
}

// A later import of the same directory adds nothing.
func TestImport_AddsMissingNames(t *testing.T) {
	dir, url := writeFiles(t), testdb.SQLite(t)
	for _, says := range []string{`"bad ": its name must not`, "of which 0 and 0 are new"} {
		var out bytes.Buffer
		if code := run(t.Context(), []string{"import", "--db", url, "--plan", "m", "--exclude", ".git", dir}, &out, &out); code != 0 || !strings.Contains(out.String(), says) {
			t.Fatalf("exit code %d, want something about %q:\n%s", code, says, &out)
		}
		suites, cases := paths(t, opened(t, url).Service)
		if got, want := strings.Join(suites, " "), "/a /a/b /a/b/c /a/testdata /doc"; got != want {
			t.Errorf("the suites are %s, want %s", got, want)
		}
		if got, want := strings.Join(cases, " "), "/m_test.go /a/a_test.go /a/testdata/broken_test.go"; got != want {
			t.Errorf("the cases are %s, want %s", got, want)
		}
	}
}
