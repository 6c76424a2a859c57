package importer_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/sample-app/internal/importer"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files are a small module with the features of real ones.
var files = map[string]string{
	"go.mod":      "module m\n",
	"main.go":     "package m\n\nfunc TestNot() {}\n",
	"m_test.go":   "package m\n\nimport \"testing\"\n\n// TestA tests a.\nfunc TestA(t *testing.T) {}\n\nfunc TestMain(m *testing.M) {}\n\nfunc Testify() {}\n\nfunc Test_b(t *testing.T) {}\n\nfunc (x) TestMethod(t *testing.T) {}\n",
	"a/a_test.go": "package a\n\nfunc BenchmarkA(b *testing.B) {}\nfunc FuzzA(f *testing.F) {}\nfunc ExampleA() {}\nfunc Example() {}\nfunc Test(t *testing.T) {}\n",
	// Parsed up to the error.
	"a/testdata/broken_test.go": "package broken\n\nfunc TestFirst(t *testing.T) {}\n\nfunc TestSecond(\n",
	"a/b/c/empty_test.go":       "package c\n",
	"doc/readme.txt":            "text",
	".git/objects/x_test.go":    "package x\nfunc TestX() {}\n",
	"bad /x_test.go":            "package x\nfunc TestX() {}\n",
}

func writeFiles(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, db string) *instance.Instance {
	t.Helper()
	i, err := instance.Open(t.Context(), instance.Config{DB: db, Locks: "memory://", Assert: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	})
	return i
}

// paths returns the paths of the imported plan's suites and cases.
func paths(t *testing.T, service *plans.Service) (suites, cases []string) {
	t.Helper()
	all, err := service.Plans(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(p model.Plan) bool { return p.Name == "m" })
	if i < 0 {
		t.Fatal("there is no plan m")
	}
	tree, err := service.Tree(t.Context(), all[i].ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range tree[1:] {
		suites = append(suites, s.Path)
		found, err := service.Cases(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found {
			cases = append(cases, c.Path)
			if c.Name == "TestA" && c.Body != "m_test.go:6\n\nTestA tests a." {
				t.Errorf("the body is %q", c.Body)
			}
		}
	}
	report, err := service.Check(t.Context(), all[i].ID)
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("the check says %v, %v", report, err)
	}
	return suites, cases
}

var wantSuites = []string{
	"/a", "/a/a_test.go", "/a/b", "/a/b/c", "/a/b/c/empty_test.go", "/a/testdata", "/a/testdata/broken_test.go", "/doc", "/m_test.go",
}

var wantCases = []string{
	"/a/a_test.go/BenchmarkA", "/a/a_test.go/Example", "/a/a_test.go/ExampleA", "/a/a_test.go/FuzzA", "/a/a_test.go/Test",
	"/a/testdata/broken_test.go/TestFirst", "/m_test.go/TestA", "/m_test.go/Test_b",
}

// Two imports of one directory at once lead to the plan of one.
func TestRun(t *testing.T) {
	dir := writeFiles(t)
	for _, db := range testdb.All(t) {
		t.Run(db.Name, func(t *testing.T) {
			i, other := open(t, db.URL), open(t, db.URL)
			var out bytes.Buffer
			opts := importer.Options{Project: "default", Plan: "m", Dir: dir, Exclude: []string{".git"}, Out: &out}
			beside := make(chan error)
			go func() {
				opts := opts
				opts.Out = io.Discard
				beside <- importer.Run(t.Context(), other.Service, opts)
			}()
			if err := errors.Join(importer.Run(t.Context(), i.Service, opts), <-beside); err != nil {
				t.Fatal(err)
			}
			suites, cases := paths(t, i.Service)
			if !slices.Equal(suites, wantSuites) {
				t.Errorf("suites %q, want %q", suites, wantSuites)
			}
			// The functions after a syntax error may or may not be found.
			cases = slices.DeleteFunc(cases, func(p string) bool { return strings.HasSuffix(p, "/TestSecond") })
			if !slices.Equal(cases, wantCases) {
				t.Errorf("cases %q, want %q", cases, wantCases)
			}
			for _, warning := range []string{`"bad ": its name must not`, `"a/testdata/broken_test.go" does not parse`} {
				if !strings.Contains(out.String(), warning) {
					t.Errorf("the summary does not say %q:\n%s", warning, &out)
				}
			}
			// A later import adds nothing, and no row is there twice.
			out.Reset()
			if err := importer.Run(t.Context(), i.Service, opts); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "of which 0 and 0 are new") {
				t.Errorf("the later import added something:\n%s", &out)
			}
			again, _ := paths(t, i.Service)
			if !slices.Equal(again, suites) {
				t.Errorf("after a later import the suites are %q", again)
			}
		})
	}
}
