package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// rootPath is the module that all others require.
const rootPath = "github.com/pathlock-go/pathlock"

// published are the folders of the modules that people outside require, install or run. The other
// modules serve only this repository.
var published = []string{
	".", "store/sqlstore", "store/zkstore", "store/etcdstore", "store/anystore", "promobserver", "otelobserver",
	"cmd/pathlock", "sample-app",
}

var (
	// ours is a module of the repository and its version, in a go.mod or as a go.work replaces it.
	ours = regexp.MustCompile(`(\b` + regexp.QuoteMeta(rootPath) + `(?:/\S+)?) (v\S+)`)
	// use is a folder of a go.work.
	use = regexp.MustCompile(`(?m)^(?:use)?\s+(\.\S*)$`)
)

// modulePath returns the path of the module in a folder.
func modulePath(folder string) string { return path.Join(rootPath, folder) }

// subdirectory returns a module's folder as package zip calls it.
func subdirectory(folder string) string { return strings.TrimPrefix(folder, ".") }

// tag returns the tag under which the go command finds a version of the module in a folder.
func tag(folder, version string) string { return path.Join(folder, version) }

// tags returns the tags of all published modules.
func tags(version string) []string {
	var names []string
	for _, folder := range published {
		names = append(names, tag(folder, version))
	}
	return names
}

// requiring returns the folders of the workspace's modules, without the root.
func requiring(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.work"))
	var folders []string
	for _, match := range use.FindAllSubmatch(text, -1) {
		if folder := path.Clean(string(match[1])); folder != "." {
			folders = append(folders, folder)
		}
	}
	return folders, err
}

// oursIn returns the modules of the repository that a file names.
func oursIn(text []byte) (all []module.Version) {
	for _, match := range ours.FindAllSubmatch(text, -1) {
		all = append(all, module.Version{Path: string(match[1]), Version: string(match[2])})
	}
	return all
}

// required returns the modules of the repository that the module in a folder requires, directly or
// not: none, or the root and others.
func required(root, folder string) ([]module.Version, error) {
	text, err := os.ReadFile(filepath.Join(root, folder, "go.mod"))
	if err != nil {
		return nil, err
	}
	all := oursIn(text)
	if len(all) > 0 && !slices.ContainsFunc(all, func(v module.Version) bool { return v.Path == rootPath }) {
		return nil, fmt.Errorf("release: %s requires %s and not %s", folder, all[0].Path, rootPath)
	}
	return all, nil
}

// inOrder returns the folders of the workspace's modules, the root first, and each after all that
// it requires: its go.sum has the checksums of their zips.
func inOrder(root string) ([]string, error) {
	waiting, err := requiring(root)
	if err != nil {
		return nil, err
	}
	ordered := []string{"."}
	for len(waiting) > 0 {
		before := len(ordered)
		for _, folder := range waiting {
			needs, err := required(root, folder)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(needs, func(v module.Version) bool {
				return !slices.ContainsFunc(ordered, func(folder string) bool { return modulePath(folder) == v.Path })
			}) {
				ordered = append(ordered, folder)
			}
		}
		if len(ordered) == before {
			return nil, fmt.Errorf("release: %s require each other, or a module outside of go.work", strings.Join(waiting, ", "))
		}
		waiting = slices.DeleteFunc(waiting, func(folder string) bool { return slices.Contains(ordered, folder) })
	}
	return ordered, nil
}

// checksums returns a go.sum that has the given lines about the repository's modules, and no others
// about them.
func checksums(text string, lines []string) string {
	all := slices.Collect(strings.Lines(strings.Join(lines, "")))
	for line := range strings.Lines(text) {
		if module, _, _ := strings.Cut(line, " "); module != rootPath && !strings.HasPrefix(module, rootPath+"/") {
			all = append(all, line)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int {
		return strings.Compare(a[:strings.IndexByte(a, ' ')], b[:strings.IndexByte(b, ' ')])
	})
	return strings.Join(all, "")
}
