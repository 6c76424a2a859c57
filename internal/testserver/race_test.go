package testserver

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/gormplugintest"
)

const root = "../.."

// withoutRace returns what the test command's part without the race detector sets a variable to.
func withoutRace(t *testing.T, variable string) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(root, "test/run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(script), `echo "== test, without the race detector"`)
	value := regexp.MustCompile(`(?ms)^` + variable + `=['(](.+?)[')]$`).FindStringSubmatch(part)
	if value == nil {
		t.Fatalf("test/run.sh sets no %s in its part without the race detector", variable)
	}
	return value[1]
}

// The test command's part without the race detector runs every test that leaves itself to it.
func TestNothingIsLeftOutWithoutTheRaceDetector(t *testing.T) {
	run := regexp.MustCompile(withoutRace(t, "tests"))
	packages := strings.Fields(withoutRace(t, "packages"))
	left := 0
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			test, ok := decl.(*ast.FuncDecl)
			if !ok || !leavesItself(test) {
				continue
			}
			left++
			if !run.MatchString(test.Name.Name) || !slices.Contains(packages, "./"+filepath.ToSlash(folder)) {
				t.Errorf("%s in %s is run by neither part of test/run.sh", test.Name.Name, folder)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if left == 0 {
		t.Error("no test leaves itself to that part: is NotUnderRace called otherwise?")
	}
}

// Under the race detector, TestMySQL runs the races and nothing else. The other part skips these
// and runs the rest, so that every subtest runs once.
func TestTheRacesOfMySQLRunInOnePart(t *testing.T) {
	skipped := withoutRace(t, "races")
	names := regexp.MustCompile(`^\^TestMySQL\$/\./\^\((.+)\)\$$`).FindStringSubmatch(skipped)
	if names == nil {
		t.Fatalf("the part without the race detector skips %s, and not subtests of TestMySQL by their names", skipped)
	}
	here, there := strings.Split(names[1], "|"), gormplugintest.Races()
	slices.Sort(here)
	slices.Sort(there)
	if !slices.Equal(here, there) {
		t.Errorf("one part skips %q, and the other runs %q", here, there)
	}
}

// leavesItself reports whether a function asks testserver whether the race detector watches.
func leavesItself(f *ast.FuncDecl) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "NotUnderRace" || s.Sel.Name == "UnderRace") {
			x, ok := s.X.(*ast.Ident)
			found = found || ok && x.Name == "testserver"
		}
		return true
	})
	return found
}
