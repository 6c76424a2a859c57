package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

// small is a repository like this one: all of its published modules, and two that are not. They
// require each other as those of this repository may, and nothing else. No module precedes those
// that require it.
var small = workspace(
	part{"bench", []string{"store/sqlstore"}},
	part{"sample-app", []string{"otelobserver", "promobserver", "store/anystore", "store/sqlstore"}},
	part{"cmd/pathlock", []string{"store/anystore"}},
	part{"store/anystore", []string{"store/etcdstore", "store/sqlstore", "store/zkstore"}},
	part{"store/etcdstore", nil},
	part{"store/sqlstore", nil},
	part{"store/zkstore", nil},
	part{"promobserver", nil},
	part{"otelobserver", nil},
)

// part is a module of a repository: its folder, and those of the modules that it imports beside the
// root.
type part struct {
	folder  string
	imports []string
}

// workspace returns the files of a repository of some modules, the root, and a module that requires
// none of them.
func workspace(parts ...part) map[string]string {
	files := map[string]string{
		"go.mod":       "module " + rootPath + "\n\ngo 1.26.0\n",
		"go.sum":       "",
		"root.go":      "package pathlock\n\nimport _ \"embed\"\n\n//go:embed text.lua\nvar Text string\n",
		"text.lua":     "return 1\n",
		"LICENSE":      "the licence\n",
		".gitignore":   "*.db\n",
		"CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- everything\n",
	}
	imported := map[string][]string{}
	for _, p := range parts {
		imported[p.folder] = p.imports
	}
	uses, replaces := "\t.\n", "replace "+rootPath+" v0.0.0 => ./\n"
	for _, p := range parts {
		uses += "\t./" + p.folder + "\n"
		replaces += "\nreplace " + modulePath(p.folder) + " v0.0.0 => ./" + p.folder + "\n"
		direct := map[string]bool{rootPath: true}
		name := "main"
		if strings.HasPrefix(p.folder, "store/") || strings.HasSuffix(p.folder, "observer") {
			name = filepath.Base(p.folder)
		}
		code := "package " + name + "\n\nimport (\n\t_ \"" + rootPath + "\"\n"
		for _, folder := range p.imports {
			direct[modulePath(folder)] = true
			for _, further := range imported[folder] {
				direct[modulePath(further)] = slices.Contains(p.imports, further)
			}
			code += "\t_ \"" + modulePath(folder) + "\"\n"
		}
		if code += ")\n"; name == "main" {
			code += "\nfunc main() {}\n"
		}
		mod := "module " + modulePath(p.folder) + "\n\ngo 1.26.0\n"
		for _, path := range slices.Sorted(maps.Keys(direct)) {
			mod += "\nrequire " + path + " v0.0.0"
			if !direct[path] {
				mod += " // indirect"
			}
			mod += "\n"
		}
		files[p.folder+"/go.mod"], files[p.folder+"/go.sum"], files[p.folder+"/code.go"] = mod, "", code
	}
	// A program that the tests build, for which nothing changes.
	uses += "\t./store/zkstore/internal/server\n"
	files["store/zkstore/internal/server/go.mod"] = "module " + modulePath("store/zkstore/internal/server") + "\n\ngo 1.26.0\n"
	files["store/zkstore/internal/server/go.sum"] = ""
	files["store/zkstore/internal/server/main.go"] = "package main\n\nfunc main() {}\n"
	files["go.work"] = "go 1.26.0\n\nuse (\n" + uses + ")\n\n" + replaces
	return files
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
