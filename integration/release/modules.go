package main

import (
	"fmt"
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
var published = []string{".", "cmd/pathlock", "sample-app"}

// modulePath returns the path of the module in a folder.
func modulePath(folder string) string { return path.Join(rootPath, folder) }

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

// required returns the version of the root module that the module in a folder requires.
func required(root, folder string) (string, error) {
	name := path.Join(folder, "go.mod")
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return "", err
	}
	file, err := modfile.Parse(name, text, nil)
	if err != nil {
		return "", err
	}
	for _, require := range file.Require {
		if require.Mod.Path == rootPath {
			return require.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("release: %s does not require %s", name, rootPath)
}

// require returns a go.mod that requires the root module at a version.
func require(name string, text []byte, version string) ([]byte, error) {
	file, err := modfile.Parse(name, text, nil)
	if err != nil {
		return nil, err
	}
	if err := file.AddRequire(rootPath, version); err != nil {
		return nil, err
	}
	return file.Format()
}

// standIn returns a go.work that replaces a version of the root module with the working tree.
func standIn(text []byte, version string) ([]byte, error) {
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return nil, err
	}
	for _, replace := range slices.Clone(work.Replace) {
		if replace.Old.Path == rootPath {
			if err := work.DropReplace(replace.Old.Path, replace.Old.Version); err != nil {
				return nil, err
			}
		}
	}
	if err := work.AddReplace(rootPath, version, "./", ""); err != nil {
		return nil, err
	}
	work.Cleanup()
	return modfile.Format(work.Syntax), nil
}

// checksums returns a go.sum that has the checksums of one version of the root module and of no
// other version.
func checksums(text []byte, version, zip, mod string) ([]byte, error) {
	sums := map[module.Version]string{
		{Path: rootPath, Version: version}:             zip,
		{Path: rootPath, Version: version + "/go.mod"}: mod,
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("release: a go.sum has the line %q", line)
		}
		if fields[0] != rootPath {
			sums[module.Version{Path: fields[0], Version: fields[1]}] = fields[2]
		}
	}
	var sorted []module.Version
	for version := range sums {
		sorted = append(sorted, version)
	}
	module.Sort(sorted)
	var result strings.Builder
	for _, version := range sorted {
		fmt.Fprintf(&result, "%s %s %s\n", version.Path, version.Version, sums[version])
	}
	return []byte(result.String()), nil
}
