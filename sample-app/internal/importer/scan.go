package importer

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

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
		switch depth := strings.Count(at, "/") + 1; {
		case !entry.IsDir():
			names.Cases = append(names.Cases, plans.ImportedCase{Path: at, Body: at})
		case depth > model.MaxDepth:
			return leaveOut(at, entry, fmt.Errorf("it lies more than %d directories deep", model.MaxDepth))
		default:
			names.Suites = append(names.Suites, at)
		}
		return nil
	})
	return names, err
}

// isTestFile reports whether an entry is a file of tests and not a link to one.
func isTestFile(entry fs.DirEntry) bool {
	return entry.Type().IsRegular() && strings.HasSuffix(entry.Name(), "_test.go")
}
