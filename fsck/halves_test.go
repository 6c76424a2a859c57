package fsck_test

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"testing"
)

// writing are the files of the writing half. All others are the reading half, which checks tables.
var writing = []string{
	"changelog.go", "edit.go", "freename.go", "insert.go", "lostfound.go", "mend.go", "repair.go", "repairoptions.go", "run.go",
	"siblinggroup.go", "spool.go", "steps.go", "transact.go", "unique.go", "wait.go",
}

// A check does not know of repairs: the reading half compiles without the writing half.
func TestReadingHalfKnowsNothingOfTheWritingHalf(t *testing.T) {
	folder, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range writing {
		if !slices.Contains(folder.GoFiles, name) {
			t.Errorf("there is no file %s in the writing half", name)
		}
	}
	fset := token.NewFileSet()
	var reading []*ast.File
	for _, name := range folder.GoFiles {
		if slices.Contains(writing, name) {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		reading = append(reading, file)
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil), Error: func(err error) { t.Error(err) }}
	_, _ = config.Check("fsck", fset, reading, nil)
}
