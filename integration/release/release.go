package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// The reasons to refuse a release.
var (
	errUsage       = errors.New("release: go run ./integration/release [-write] v0.1.0")
	errVersion     = errors.New("release: not a version for these modules")
	errExists      = errors.New("release: the version exists")
	errDirty       = errors.New("release: the tree has uncommitted changes")
	errShallow     = errors.New("release: the checkout is shallow")
	errNoChanges   = errors.New("release: CHANGELOG.md has no changes under " + strings.TrimSpace(unreleased))
	errUnpublished = errors.New("release: a module that is required is not published")
)

// unreleased is the heading of the changes since the last release.
const unreleased = "## [Unreleased]\n"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, time.Now())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the command line in the repository around the working directory. It makes the release in
// a clone, and shows it. With -write, it makes the same commit in the repository, and tags it.
func run(ctx context.Context, args []string, out io.Writer, now time.Time) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	write := flags.Bool("write", false, "commit and tag")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		return errUsage
	}
	version := flags.Arg(0)
	root, err := repository(".").git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	repo := repository(root)
	if err := check(ctx, repo, version); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if _, err := repo.git(ctx, "clone", "--quiet", "--shared", "--no-tags", ".", scratch); err != nil {
		return err
	}
	clone := repository(scratch)
	if err := edit(ctx, clone, version, now.UTC().Format(time.DateOnly)); err != nil {
		return err
	}
	diff, err := clone.git(ctx, "diff", "HEAD~", "HEAD")
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%s\n\ntags: %s\n", diff, strings.Join(tags(version), " "))
	if !*write {
		_, _ = fmt.Fprintln(out, "nothing is written; -write makes the release")
		return nil
	}
	if err := record(ctx, repo, clone, version); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "publish it: git push --atomic origin HEAD %s\n", strings.Join(tags(version), " "))
	return nil
}

// check refuses a release that must not be made.
func check(ctx context.Context, repo repository, version string) error {
	if semver.Canonical(version) != version || version == "" || module.IsPseudoVersion(version) || module.CheckPathMajor(version, "") != nil {
		return fmt.Errorf("%w: %q is not of the form v1.2.3 or v1.2.3-rc.1, or of another major version", errVersion, version)
	}
	work, err := os.ReadFile(filepath.Join(string(repo), "go.work"))
	if err != nil {
		return err
	}
	for _, last := range oursIn(work) {
		if semver.Compare(version, last.Version) <= 0 {
			return fmt.Errorf("%w: %s is not above %s", errVersion, version, last)
		}
	}
	shallow, err := repo.git(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return err
	}
	changes, err := repo.git(ctx, "status", "--porcelain")
	switch {
	case err != nil:
		return err
	case shallow != "false":
		return errShallow
	case changes != "":
		return fmt.Errorf("%w:\n%s", errDirty, changes)
	}
	remotes, err := repo.lines(ctx, "remote")
	if err != nil {
		return err
	}
	refs := []string{}
	for _, name := range tags(version) {
		refs = append(refs, "refs/tags/"+name)
	}
	for _, where := range append([]string{"."}, remotes...) {
		found, err := repo.git(ctx, append([]string{"ls-remote", where}, refs...)...)
		if err != nil {
			return err
		}
		if found != "" {
			return fmt.Errorf("%w: %s has %s", errExists, where, found)
		}
	}
	return nil
}

// edit commits the release in a clone.
func edit(ctx context.Context, clone repository, version, date string) error {
	base, err := clone.git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	commit := func() error {
		_, err := clone.git(ctx, "-c", "user.name=release", "-c", "user.email=release", "-c", "commit.gpgSign=false",
			"commit", "--quiet", "--no-verify", "--allow-empty", "--all", "--message", "release")
		return err
	}
	folders, err := inOrder(string(clone))
	if err != nil {
		return err
	}
	err = clone.change("CHANGELOG.md", func(text string) (string, error) {
		before, after, found := strings.Cut(text, unreleased)
		changes, _, _ := strings.Cut(after, "\n## ")
		if !found || strings.TrimSpace(changes) == "" {
			return "", errNoChanges
		}
		return before + unreleased + "\n## [" + strings.TrimPrefix(version, "v") + "] - " + date + "\n" + after, nil
	})
	if err != nil {
		return err
	}
	at := func(text string) (string, error) { return ours.ReplaceAllString(text, "${1} "+version), nil }
	if err := clone.change("go.work", at); err != nil {
		return err
	}
	sums := map[string]string{} // the lines of a go.sum about a module, by its path
	for _, folder := range folders {
		required, err := required(string(clone), folder)
		if err != nil {
			return err
		}
		if len(required) > 0 {
			var lines []string
			for _, v := range required {
				if sums[v.Path] == "" {
					return fmt.Errorf("%w: %s, and %s requires it", errUnpublished, v.Path, folder)
				}
				lines = append(lines, sums[v.Path])
			}
			err = errors.Join(clone.change(path.Join(folder, "go.mod"), at),
				clone.change(path.Join(folder, "go.sum"), func(text string) (string, error) { return checksums(text, lines), nil }))
			if err != nil {
				return err
			}
		}
		// Only a commit has the right checksum: git applies its attributes to it.
		if err := commit(); err != nil {
			return err
		}
		if slices.Contains(published, folder) {
			if sums[modulePath(folder)], err = sumsOf(clone, folder, version); err != nil {
				return err
			}
		}
	}
	if _, err := clone.git(ctx, "reset", "--quiet", "--soft", base); err != nil {
		return err
	}
	return commit()
}

// sumsOf returns the lines of a go.sum about the module in a folder, as the last commit of a clone
// has it.
func sumsOf(clone repository, folder, version string) (string, error) {
	archive, err := os.CreateTemp("", "release-*.zip")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(archive.Name()) }()
	v := module.Version{Path: modulePath(folder), Version: version}
	err = errors.Join(zip.CreateFromVCS(archive, v, string(clone), "HEAD", subdirectory(folder)), archive.Close())
	if err != nil {
		return "", err
	}
	whole, err := dirhash.HashZip(archive.Name(), dirhash.Hash1)
	if err != nil {
		return "", err
	}
	mod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return os.Open(filepath.Join(string(clone), folder, "go.mod"))
	})
	return fmt.Sprintf("%s %s %s\n%s %s/go.mod %s\n", v.Path, version, whole, v.Path, version, mod), err
}

// record commits in the repository what the clone has. It tags the commit only if its tree is, to
// the byte, the one that the checksums were computed for.
func record(ctx context.Context, repo, clone repository, version string) error {
	changed, err := clone.lines(ctx, "diff", "--name-only", "HEAD~", "HEAD")
	if err != nil {
		return err
	}
	for _, name := range changed {
		text, err := os.ReadFile(filepath.Join(string(clone), name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(string(repo), name), text, 0o644); err != nil {
			return err
		}
	}
	if _, err := repo.git(ctx, append([]string{"commit", "--quiet", "--message", "Release " + version, "--"}, changed...)...); err != nil {
		return err
	}
	var trees [2]string
	for i, r := range []repository{repo, clone} {
		if trees[i], err = r.git(ctx, "rev-parse", "HEAD^{tree}"); err != nil {
			return err
		}
	}
	if trees[0] != trees[1] {
		return fmt.Errorf("release: the commit's tree is %s and not %s, for which the checksums are: nothing is tagged", trees[0], trees[1])
	}
	for _, name := range tags(version) {
		if _, err := repo.git(ctx, "tag", "--annotate", "--message", "Release "+version, name); err != nil {
			return err
		}
	}
	return nil
}

// repository is the folder of a git checkout.
type repository string

// git runs a git command in the checkout, and returns its output without the spaces around it.
func (r repository) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = string(r)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("release: git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(complaint.Bytes()))
	}
	return strings.TrimSpace(out.String()), nil
}

// lines runs a git command in the checkout and returns the lines that it prints.
func (r repository) lines(ctx context.Context, args ...string) ([]string, error) {
	out, err := r.git(ctx, args...)
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(out, "\n"), nil
}

// change changes the text of a file.
func (r repository) change(name string, change func(string) (string, error)) error {
	file := filepath.Join(string(r), name)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	changed, err := change(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(changed), 0o644)
}
