package importer

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// testKinds are the prefixes of test functions' names.
var testKinds = []string{"Test", "Benchmark", "Fuzz", "Example"}

// testCase is one test function of a file.
type testCase struct {
	name string
	body string
}

// testsIn returns the test functions of a _test.go file. shown is the file's name in the bodies of
// the cases. For a file that does not parse, it returns an error and the functions that it found.
func testsIn(filename, shown string) ([]testCase, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, filename, nil, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return nil, err
	}
	var tests []testCase
	seen := map[string]bool{}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || !isTest(fn) || seen[fn.Name.Name] {
			continue
		}
		seen[fn.Name.Name] = true
		body := fmt.Sprintf("%s:%d", shown, files.Position(fn.Pos()).Line)
		if doc := strings.TrimSpace(fn.Doc.Text()); doc != "" {
			body += "\n\n" + doc
		}
		tests = append(tests, testCase{fn.Name.Name, body})
	}
	return tests, err
}

// isTest reports whether go test would run a function, or go doc would show it as an example, by
// the rules of "go help testfunc". A TestMain that takes a *testing.M is not a test.
func isTest(fn *ast.FuncDecl) bool {
	if fn.Recv != nil || isMain(fn) {
		return false
	}
	return slices.ContainsFunc(testKinds, func(kind string) bool {
		rest, ok := strings.CutPrefix(fn.Name.Name, kind)
		first, _ := utf8.DecodeRuneInString(rest)
		return ok && !unicode.IsLower(first)
	})
}

func isMain(fn *ast.FuncDecl) bool {
	if fn.Name.Name != "TestMain" || fn.Type.Params.NumFields() != 1 {
		return false
	}
	pointer, ok := fn.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	selector, ok := pointer.X.(*ast.SelectorExpr)
	return ok && selector.Sel.Name == "M"
}
