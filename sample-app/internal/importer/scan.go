package importer

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// scan finds the suites and cases in a directory tree. It says what it leaves out, but for the
// directories that are excluded.
func scan(ctx context.Context, opts Options) (names plans.Import, err error) {
	if info, err := os.Stat(opts.Dir); err != nil {
		return names, err
	} else if !info.IsDir() {
		return names, fmt.Errorf("%s is not a directory", opts.Dir)
	}
	root := os.DirFS(opts.Dir)
	leaveOut := func(at string, entry fs.DirEntry, why error) error {
		_, _ = fmt.Fprintf(opts.Out, "left out: %q: %v\n", at, why)
		if entry != nil && entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	err = fs.WalkDir(root, ".", func(at string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return leaveOut(at, entry, err)
		case at == "." || !entry.IsDir() && !isTestFile(entry):
			return nil
		case entry.IsDir() && slices.Contains(opts.Exclude, entry.Name()):
			return fs.SkipDir
		}
		if err := model.CheckName(entry.Name()); err != nil {
			return leaveOut(at, entry, fmt.Errorf("its name %w", err))
		}
		if depth := strings.Count(at, "/") + 1; depth > model.MaxDepth {
			return leaveOut(at, entry, fmt.Errorf("it lies more than %d directories deep", model.MaxDepth))
		}
		names.Suites = append(names.Suites, at)
		if entry.IsDir() {
			return nil
		}
		text, err := fs.ReadFile(root, at)
		if err != nil {
			return leaveOut(at, entry, err)
		}
		tests, err := testsIn(at, text)
		names.Cases = append(names.Cases, tests...)
		if err != nil {
			_, _ = fmt.Fprintf(opts.Out, "%q does not parse as a whole: %v\n", at, err)
		}
		return nil
	})
	return names, err
}

// isTestFile reports whether an entry is a file of tests and not a link to one.
func isTestFile(entry fs.DirEntry) bool {
	return entry.Type().IsRegular() && strings.HasSuffix(entry.Name(), "_test.go")
}

// testKinds are the prefixes of test functions' names.
var testKinds = []string{"Test", "Benchmark", "Fuzz", "Example"}

// testsIn returns the test functions of a file as cases. For a file that does not parse, it returns
// an error and the functions that it found.
func testsIn(at string, text []byte) ([]plans.ImportedCase, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, filepath.Base(at), text, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return nil, err
	}
	var tests []plans.ImportedCase
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || !isTest(fn.Name.Name) {
			continue
		}
		body := fmt.Sprintf("%s:%d", at, files.Position(fn.Pos()).Line)
		if doc := strings.ToValidUTF8(strings.TrimSpace(fn.Doc.Text()), "\ufffd"); doc != "" {
			body += "\n\n" + doc
		}
		tests = append(tests, plans.ImportedCase{Path: path.Join(at, fn.Name.Name), Body: body})
	}
	return tests, err
}

// isTest reports whether a function's name is that of a test, by the rules of "go help testfunc".
func isTest(name string) bool {
	return name != "TestMain" && model.CheckName(name) == nil && slices.ContainsFunc(testKinds, func(kind string) bool {
		rest, ok := strings.CutPrefix(name, kind)
		first, _ := utf8.DecodeRuneInString(rest)
		return ok && !unicode.IsLower(first)
	})
}
