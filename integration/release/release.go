package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// The reasons to refuse a release.
var (
	errVersion = errors.New("release: not a version for these modules")
	errExists  = errors.New("release: the version exists")
	errDirty   = errors.New("release: the tree has uncommitted changes")
	errShallow = errors.New("release: the checkout is shallow")

	errUnpublished = errors.New("release: a module that is required is not published")
)

// release is one release of all modules.
type release struct {
	repo    repository
	version string
	date    string // of the changelog's heading, 2006-01-02
}

// check refuses a release that must not be made.
func (r release) check(ctx context.Context) error {
	if err := r.checkVersion(); err != nil {
		return err
	}
	if shallow, err := r.repo.git(ctx, "rev-parse", "--is-shallow-repository"); err != nil {
		return err
	} else if shallow != "false" {
		return errShallow
	}
	changes, err := r.repo.git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		return fmt.Errorf("%w:\n%s", errDirty, changes)
	}
	return r.checkTags(ctx)
}

// checkVersion refuses a version that is not semantic, or that the go command would not take for a
// successor of the last release.
func (r release) checkVersion() error {
	if semver.Canonical(r.version) != r.version || r.version == "" || module.IsPseudoVersion(r.version) {
		return fmt.Errorf("%w: %q is not of the form v1.2.3 or v1.2.3-rc.1", errVersion, r.version)
	}
	if err := module.CheckPathMajor(r.version, ""); err != nil {
		return fmt.Errorf("%w: %w", errVersion, err)
	}
	folders, err := requiring(string(r.repo))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		ours, err := required(string(r.repo), folder)
		if err != nil {
			return err
		}
		for _, last := range ours {
			if semver.Compare(r.version, last.Version) <= 0 {
				return fmt.Errorf("%w: %s is not above %s, which %s requires", errVersion, r.version, last, folder)
			}
		}
	}
	return nil
}

// checkTags refuses a version of which any module has a tag, here or at a remote.
func (r release) checkTags(ctx context.Context) error {
	remotes, err := r.repo.lines(ctx, "remote")
	if err != nil {
		return err
	}
	for _, where := range append([]string{"."}, remotes...) {
		found, err := r.repo.lines(ctx, append([]string{"ls-remote", where}, refs(tags(r.version))...)...)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return fmt.Errorf("%w: %s has %s", errExists, where, strings.Join(found, ", "))
		}
	}
	return nil
}

// refs returns the full names of tags.
func refs(tags []string) []string {
	var names []string
	for _, name := range tags {
		names = append(names, "refs/tags/"+name)
	}
	return names
}

// make prepares the release in a clone and shows it. With write, it then makes the release in the
// repository. A failure before the commit leaves the repository as it is.
func (r release) make(ctx context.Context, out io.Writer, write bool) error {
	scratch, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if _, err := r.repo.git(ctx, "clone", "--quiet", "--shared", "--no-tags", ".", scratch); err != nil {
		return err
	}
	clone := repository(scratch)
	changed, err := r.edit(ctx, clone)
	if err != nil {
		return err
	}
	diff, err := clone.git(ctx, "diff", "HEAD~", "HEAD")
	if err != nil {
		return err
	}
	tree, err := clone.git(ctx, "rev-parse", "HEAD^{tree}")
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%s\n\ntags: %s\n", diff, strings.Join(tags(r.version), " "))
	if !write {
		_, _ = fmt.Fprintln(out, "nothing is written; -write makes the release")
		return nil
	}
	if err := r.record(ctx, scratch, changed, tree); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "publish it: git push --atomic origin HEAD %s\n", strings.Join(tags(r.version), " "))
	return nil
}

// edit commits the release in a clone, and returns the changed files.
func (r release) edit(ctx context.Context, clone repository) (changed []string, err error) {
	edit := func(name string, change func([]byte) ([]byte, error)) error {
		file := filepath.Join(string(clone), name)
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if text, err = change(text); err != nil {
			return err
		}
		changed = append(changed, name)
		return os.WriteFile(file, text, 0o644)
	}
	commit := func() error {
		_, err := clone.git(ctx, "-c", "user.name=release", "-c", "user.email=release", "-c", "commit.gpgSign=false",
			"commit", "--quiet", "--no-verify", "--all", "--message", "release")
		return err
	}
	folders, err := inOrder(string(clone))
	if err != nil {
		return nil, err
	}
	if err := edit("CHANGELOG.md", func(text []byte) ([]byte, error) {
		result, err := dated(string(text), r.version, r.date)
		return []byte(result), err
	}); err != nil {
		return nil, err
	}
	if err := edit("go.work", func(text []byte) ([]byte, error) { return standIn(text, r.version) }); err != nil {
		return nil, err
	}
	// Only a commit has the right checksum: git applies its attributes to it.
	if err := commit(); err != nil {
		return nil, err
	}
	commits := 1
	sums := map[string]moduleSums{} // by path, of the modules before the one at hand
	for _, folder := range folders {
		ours, err := required(string(clone), folder)
		if err != nil {
			return nil, err
		}
		if len(ours) > 0 {
			name := path.Join(folder, "go.mod")
			if err := edit(name, func(text []byte) ([]byte, error) { return require(name, text, r.version) }); err != nil {
				return nil, err
			}
			if err := edit(path.Join(folder, "go.sum"), func(text []byte) ([]byte, error) {
				lines, err := r.linesOf(ours, sums)
				if err != nil {
					return nil, fmt.Errorf("%w, and %s requires it", err, folder)
				}
				return checksums(text, lines)
			}); err != nil {
				return nil, err
			}
			if err := commit(); err != nil {
				return nil, err
			}
			commits++
		}
		if !slices.Contains(published, folder) {
			continue
		}
		if sums[modulePath(folder)], err = r.sums(clone, folder); err != nil {
			return nil, err
		}
	}
	if _, err := clone.git(ctx, "reset", "--quiet", "--soft", fmt.Sprintf("HEAD~%d", commits)); err != nil {
		return nil, err
	}
	return changed, commit()
}

// moduleSums are the go command's checksums of one version of a module.
type moduleSums struct{ zip, mod string }

// linesOf returns what a go.sum says of the new versions of some modules. The error matches
// [errUnpublished] if one of them gets no tag.
func (r release) linesOf(ours []module.Version, sums map[string]moduleSums) (map[module.Version]string, error) {
	lines := map[module.Version]string{}
	for _, v := range ours {
		sum, ok := sums[v.Path]
		if !ok {
			return nil, fmt.Errorf("%w: %s", errUnpublished, v.Path)
		}
		lines[module.Version{Path: v.Path, Version: r.version}] = sum.zip
		lines[module.Version{Path: v.Path, Version: r.version + "/go.mod"}] = sum.mod
	}
	return lines, nil
}

// sums returns the checksums of the module in a folder, as the last commit of a clone has it.
func (r release) sums(clone repository, folder string) (moduleSums, error) {
	var sums moduleSums
	archive, err := os.CreateTemp("", "release-*.zip")
	if err != nil {
		return sums, err
	}
	defer func() { _ = os.Remove(archive.Name()) }()
	defer func() { _ = archive.Close() }()
	if err := zip.CreateFromVCS(archive, module.Version{Path: modulePath(folder), Version: r.version}, string(clone), "HEAD", subdirectory(folder)); err != nil {
		return sums, err
	}
	if sums.zip, err = dirhash.HashZip(archive.Name(), dirhash.Hash1); err != nil {
		return sums, err
	}
	sums.mod, err = dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return os.Open(filepath.Join(string(clone), folder, "go.mod"))
	})
	return sums, err
}

// record commits the changed files of the clone in the repository. It tags the commit only if its
// tree is, to the byte, the one that the checksums were computed for.
func (r release) record(ctx context.Context, clone string, changed []string, tree string) error {
	for _, name := range changed {
		text, err := os.ReadFile(filepath.Join(clone, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(string(r.repo), name), text, 0o644); err != nil {
			return err
		}
	}
	if _, err := r.repo.git(ctx, append([]string{"commit", "--quiet", "--message", "Release " + r.version, "--"}, changed...)...); err != nil {
		return err
	}
	committed, err := r.repo.git(ctx, "rev-parse", "HEAD^{tree}")
	if err != nil {
		return err
	}
	if committed != tree {
		return fmt.Errorf("release: the commit's tree is %s and not %s, for which the checksums are: nothing is tagged", committed, tree)
	}
	for _, name := range tags(r.version) {
		if _, err := r.repo.git(ctx, "tag", "--annotate", "--message", "Release "+r.version, name); err != nil {
			return err
		}
	}
	return nil
}
