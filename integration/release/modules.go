package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
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

// modulePath returns the path of the module in a folder.
func modulePath(folder string) string { return path.Join(rootPath, folder) }

// subdirectory returns a module's folder as package zip calls it.
func subdirectory(folder string) string {
	if folder == "." {
		return ""
	}
	return folder
}

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

// isOurs reports whether a path is that of a module of the repository.
func isOurs(path string) bool { return path == rootPath || strings.HasPrefix(path, rootPath+"/") }

// requiring returns the folders of the workspace's modules, without the root.
func requiring(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		return nil, err
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, use := range work.Use {
		if folder := path.Clean(use.Path); folder != "." {
			folders = append(folders, folder)
		}
	}
	return folders, nil
}

// required returns the modules of the repository that the module in a folder requires, directly or
// not: none, or the root and others.
func required(root, folder string) ([]module.Version, error) {
	name := path.Join(folder, "go.mod")
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return nil, err
	}
	file, err := modfile.Parse(name, text, nil)
	if err != nil {
		return nil, err
	}
	var ours []module.Version
	for _, require := range file.Require {
		if isOurs(require.Mod.Path) {
			ours = append(ours, require.Mod)
		}
	}
	if len(ours) > 0 && !slices.ContainsFunc(ours, func(v module.Version) bool { return v.Path == rootPath }) {
		return nil, fmt.Errorf("release: %s requires %s and not %s", name, ours[0].Path, rootPath)
	}
	return ours, nil
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
			ours, err := required(root, folder)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(ours, func(v module.Version) bool {
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

// require returns a go.mod that requires the repository's modules at a version, as far as it
// requires them.
func require(name string, text []byte, version string) ([]byte, error) {
	file, err := modfile.Parse(name, text, nil)
	if err != nil {
		return nil, err
	}
	for _, require := range slices.Clone(file.Require) {
		if !isOurs(require.Mod.Path) {
			continue
		}
		if err := file.AddRequire(require.Mod.Path, version); err != nil {
			return nil, err
		}
	}
	return file.Format()
}

// standIn returns a go.work that replaces a version of the repository's modules with the working
// tree, for the same modules as before.
func standIn(text []byte, version string) ([]byte, error) {
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return nil, err
	}
	for _, replace := range slices.Clone(work.Replace) {
		if !isOurs(replace.Old.Path) {
			continue
		}
		module, folder := replace.Old, replace.New.Path
		if err := work.DropReplace(module.Path, module.Version); err != nil {
			return nil, err
		}
		if err := work.AddReplace(module.Path, version, folder, ""); err != nil {
			return nil, err
		}
	}
	work.Cleanup()
	return modfile.Format(work.Syntax), nil
}

// checksums returns a go.sum that has the given checksums of the repository's modules, and no
// others of them.
func checksums(text []byte, ours map[module.Version]string) ([]byte, error) {
	sums := maps.Clone(ours)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("release: a go.sum has the line %q", line)
		}
		if !isOurs(fields[0]) {
			sums[module.Version{Path: fields[0], Version: fields[1]}] = fields[2]
		}
	}
	sorted := slices.Collect(maps.Keys(sums))
	module.Sort(sorted)
	var result strings.Builder
	for _, version := range sorted {
		fmt.Fprintf(&result, "%s %s %s\n", version.Path, version.Version, sums[version])
	}
	return []byte(result.String()), nil
}
