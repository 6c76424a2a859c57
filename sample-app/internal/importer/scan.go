package importer

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// node is a directory or a file of tests, which becomes a suite.
type node struct {
	// parent is nil for the directory that is imported, which becomes the root suite.
	parent *node
	name   string
	// file is the path of a _test.go file, and "" for a directory.
	file  string
	depth int
	cases []testCase
	// id is the suite's id, once there is one.
	id int64
}

// tree is what a directory becomes.
type tree struct {
	root *node
	// nodes has all nodes but the root, parents before their children.
	nodes []*node
	cases int
	// warnings say what is left out or incomplete, and why.
	warnings []string
}

// scan reads a directory tree. It leaves out the directories that exclude names.
func scan(ctx context.Context, dir string, exclude []string) (*tree, error) {
	t := &tree{root: &node{}}
	if err := t.walk(ctx, dir, exclude); err != nil {
		return nil, err
	}
	if err := t.parse(ctx, dir); err != nil {
		return nil, err
	}
	slices.SortStableFunc(t.nodes, func(a, b *node) int { return cmp.Compare(a.depth, b.depth) })
	return t, nil
}

// walk finds the directories and the files of tests.
func (t *tree) walk(ctx context.Context, dir string, exclude []string) error {
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	// WalkDir does not follow a symbolic link, even as its root.
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	above := map[string]*node{".": t.root}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, path)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case relErr != nil:
			return relErr
		case err != nil:
			t.warn(rel, "cannot be read: %v", err)
			return skip(entry)
		case rel == "." || !entry.IsDir() && !isTestFile(entry):
			return nil
		}
		n := &node{parent: above[filepath.Dir(rel)], name: entry.Name()}
		n.depth = n.parent.depth + 1
		if entry.IsDir() && slices.Contains(exclude, n.name) {
			t.warn(rel, "is excluded")
			return skip(entry)
		}
		if err := model.CheckName(n.name); err != nil {
			t.warn(rel, "cannot be a suite: its name %v", err)
			return skip(entry)
		}
		if n.depth > model.MaxDepth {
			t.warn(rel, "lies more than %d directories deep", model.MaxDepth)
			return skip(entry)
		}
		if entry.IsDir() {
			above[rel] = n
		} else {
			n.file = rel
		}
		t.nodes = append(t.nodes, n)
		return nil
	})
}

// isTestFile reports whether an entry is a file of tests and not a link to one.
func isTestFile(entry fs.DirEntry) bool {
	return entry.Type().IsRegular() && strings.HasSuffix(entry.Name(), "_test.go")
}

// skip leaves out an entry and everything below it.
func skip(entry fs.DirEntry) error {
	if entry != nil && entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// parse finds the tests in the files, and reads several files at once.
func (t *tree) parse(ctx context.Context, dir string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	failures := make([]error, len(t.nodes))
	for i, n := range t.nodes {
		if n.file == "" {
			continue
		}
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			n.cases, failures[i] = testsIn(filepath.Join(dir, n.file), filepath.ToSlash(n.file))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, n := range t.nodes {
		if failures[i] != nil {
			t.warn(n.file, "does not parse as a whole: %v", failures[i])
		}
		n.cases = slices.DeleteFunc(n.cases, func(c testCase) bool {
			err := model.CheckName(c.name)
			if err != nil {
				t.warn(n.file, "has a test whose name %v", err)
			}
			return err != nil
		})
		t.cases += len(n.cases)
	}
	return nil
}

func (t *tree) warn(what, format string, args ...any) {
	t.warnings = append(t.warnings, fmt.Sprintf("%q %s", filepath.ToSlash(what), fmt.Sprintf(format, args...)))
}
