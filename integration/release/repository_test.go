package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

// small is a repository like this one: three published modules, and one that is not. All of them
// import the root and nothing else.
var small = map[string]string{
	"go.work":              "go 1.26.0\n\nuse (\n\t.\n\t./bench\n\t./cmd/pathlock\n\t./sample-app\n)\n\nreplace " + rootPath + " v0.0.0 => ./\n",
	"go.mod":               "module " + rootPath + "\n\ngo 1.26.0\n",
	"go.sum":               "",
	"root.go":              "package pathlock\n\nimport _ \"embed\"\n\n//go:embed text.lua\nvar Text string\n",
	"text.lua":             "return 1\n",
	"LICENSE":              "the licence\n",
	".gitignore":           "*.db\n",
	"CHANGELOG.md":         "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- everything\n",
	"bench/go.mod":         "module " + rootPath + "/bench\n\ngo 1.26.0\n\nrequire " + rootPath + " v0.0.0\n",
	"bench/go.sum":         "",
	"bench/main.go":        "package main\n\nimport _ \"" + rootPath + "\"\n\nfunc main() {}\n",
	"cmd/pathlock/go.mod":  "module " + rootPath + "/cmd/pathlock\n\ngo 1.26.0\n\nrequire " + rootPath + " v0.0.0\n",
	"cmd/pathlock/go.sum":  "",
	"cmd/pathlock/main.go": "package main\n\nimport _ \"" + rootPath + "\"\n\nfunc main() {}\n",
	"sample-app/go.mod":    "module " + rootPath + "/sample-app\n\ngo 1.26.0\n\nrequire " + rootPath + " v0.0.0\n",
	"sample-app/go.sum":    "",
	"sample-app/main.go":   "package main\n\nimport _ \"" + rootPath + "\"\n\nfunc main() {}\n",
}

// commit makes a repository whose first commit has the given files.
func commit(t *testing.T, files map[string]string) repository {
	t.Helper()
	r := repository(t.TempDir())
	for name, text := range files {
		put(t, r, name, text)
	}
	git(t, r, "init", "--quiet", "--initial-branch=main")
	git(t, r, "add", "--all")
	git(t, r, "commit", "--quiet", "--message", "first")
	return r
}

func put(t *testing.T, r repository, name, text string) {
	t.Helper()
	file := filepath.Join(string(r), name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, r repository, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(string(r), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func git(t *testing.T, r repository, args ...string) string {
	t.Helper()
	out, err := r.git(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// here returns the files of the working tree that the tests run in, committed or not, apart from
// those that git ignores.
func here(t *testing.T) map[string]string {
	t.Helper()
	names, err := repository(filepath.Join("..", "..")).git(t.Context(), "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		testserver.Missing(t, err.Error())
	}
	files := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimRight(names, "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if os.IsNotExist(err) {
			continue // it is deleted, but the deletion is not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files
}
