package testserver

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The test command's part without the race detector runs every test that leaves itself to it.
func TestNothingIsLeftOutWithoutTheRaceDetector(t *testing.T) {
	const root = "../.."
	script, err := os.ReadFile(filepath.Join(root, "test/run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	_, part, ok := strings.Cut(string(script), `echo "== test, without the race detector"`)
	pattern := regexp.MustCompile(`-run '([^']+)'`).FindStringSubmatch(part)
	if !ok || pattern == nil {
		t.Fatal("test/run.sh has no part without the race detector")
	}
	run := regexp.MustCompile(pattern[1])
	left := 0
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
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
			if !run.MatchString(test.Name.Name) || !strings.Contains(part, "./"+filepath.ToSlash(folder)+" ") {
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
