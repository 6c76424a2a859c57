package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

// at makes a release in a repository, as the command line does.
func at(t *testing.T, r repository, out io.Writer, args ...string) error {
	t.Helper()
	t.Chdir(string(r))
	return run(t.Context(), args, out, time.Date(2006, 1, 2, 23, 0, 0, 0, time.UTC))
}

// state is all that a release may change: what is committed, tagged and in the working tree.
func state(t *testing.T, r repository) string {
	t.Helper()
	return git(t, r, "rev-parse", "HEAD") + "\n" + git(t, r, "tag") + "\n" + git(t, r, "status", "--porcelain", "--ignored")
}

func TestARefusedReleaseChangesNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   []string
		before func(t *testing.T, r repository)
		want   error
	}{
		{"no version", []string{"-write"}, nil, errUsage},
		{"two versions", []string{"-write", "v0.1.0", "v0.2.0"}, nil, errUsage},
		{"an unknown flag", []string{"-force", "v0.1.0"}, nil, errUsage},
		{"an empty version", []string{"-write", ""}, nil, errVersion},
		{"no v", []string{"-write", "0.1.0"}, nil, errVersion},
		{"two numbers", []string{"-write", "v0.1"}, nil, errVersion},
		{"a leading zero", []string{"-write", "v0.01.0"}, nil, errVersion},
		{"a word", []string{"-write", "latest"}, nil, errVersion},
		{"a build's data", []string{"-write", "v0.1.0+linux"}, nil, errVersion},
		{"a pseudo-version", []string{"-write", "v0.0.0-20060102150405-abcdefabcdef"}, nil, errVersion},
		{"major version 2", []string{"-write", "v2.0.0"}, nil, errVersion},
		{"not above the last one", []string{"-write", "v0.0.0"}, nil, errVersion},
		{"a changed file", []string{"-write", "v0.1.0"}, func(t *testing.T, r repository) { put(t, r, "text.lua", "return 2\n") }, errDirty},
		{"a new file", []string{"-write", "v0.1.0"}, func(t *testing.T, r repository) { put(t, r, "new.lua", "") }, errDirty},
		{"a tag of the root", []string{"-write", "v0.1.0"}, func(t *testing.T, r repository) { git(t, r, "tag", "v0.1.0") }, errExists},
		{"a tag of another module", []string{"-write", "v0.1.0"}, func(t *testing.T, r repository) { git(t, r, "tag", "sample-app/v0.1.0") }, errExists},
		{"a tag at the remote", []string{"-write", "v0.1.0"}, func(t *testing.T, r repository) {
			git(t, r, "tag", "cmd/pathlock/v0.1.0")
			remote := t.TempDir()
			git(t, r, "clone", "--quiet", "--bare", ".", remote)
			git(t, r, "tag", "--delete", "cmd/pathlock/v0.1.0")
			git(t, r, "remote", "add", "origin", remote)
		}, errExists},
		{"no changes", []string{"-write", "v0.1.0"}, func(t *testing.T, r repository) {
			put(t, r, "CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n## [0.0.1] - 2006-01-01\n\n- first\n")
			git(t, r, "commit", "--quiet", "--all", "--message", "second")
		}, errNoChanges},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := commit(t, small)
			if c.before != nil {
				c.before(t, r)
			}
			before := state(t, r)
			if err := at(t, r, io.Discard, c.args...); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if after := state(t, r); after != before {
				t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

func TestAShallowCheckoutIsRefused(t *testing.T) {
	r := commit(t, small)
	put(t, r, "text.lua", "return 2\n")
	git(t, r, "commit", "--quiet", "--all", "--message", "second")
	shallow := repository(t.TempDir())
	git(t, r, "clone", "--quiet", "--depth=1", "file://"+string(r), string(shallow))
	if err := at(t, shallow, io.Discard, "-write", "v0.1.0"); !errors.Is(err, errShallow) {
		t.Errorf("got %v, want %v", err, errShallow)
	}
}

func TestADryRunShowsTheReleaseAndMakesNone(t *testing.T) {
	r := commit(t, small)
	before := state(t, r)
	var out strings.Builder
	if err := at(t, r, &out, "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{
		"+## [0.1.0] - 2006-01-02", "+replace " + rootPath + " v0.1.0 => ./", "+require " + rootPath + " v0.1.0",
		"+replace " + rootPath + "/store/sqlstore v0.1.0 => ./store/sqlstore", "+require " + rootPath + "/store/sqlstore v0.1.0",
		"+" + rootPath + " v0.1.0 h1:", "+" + rootPath + "/store/sqlstore v0.1.0 h1:",
		"tags: v0.1.0 store/sqlstore/v0.1.0 ", "store/anystore/v0.1.0 promobserver/v0.1.0 otelobserver/v0.1.0 cmd/pathlock/v0.1.0 sample-app/v0.1.0\n", "nothing is written",
	} {
		if !strings.Contains(out.String(), shown) {
			t.Errorf("it does not show %q: %s", shown, &out)
		}
	}
	if after := state(t, r); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}

// In the checkout of a tag, each module builds by itself, with the right checksums. The workspace
// builds the same commit without a proxy.
func TestAReleasedCommitBuildsWithAndWithoutTheWorkspace(t *testing.T) {
	r := commit(t, small)
	put(t, r, "test/tidy.sh", read(t, repository(filepath.Join("..", "..")), "test/tidy.sh"))
	git(t, r, "add", "--all")
	git(t, r, "commit", "--quiet", "--message", "second")
	for _, version := range []string{"v0.1.0", "v0.2.0-rc.1", "v0.2.0"} {
		if err := at(t, r, io.Discard, "-write", version); err != nil {
			t.Fatal(err)
		}
		head := git(t, r, "rev-parse", "HEAD")
		for _, name := range tags(version) {
			if commit := git(t, r, "rev-parse", name+"^{commit}"); commit != head {
				t.Errorf("%s is %s and not %s", name, commit, head)
			}
		}
		if changes := git(t, r, "status", "--porcelain"); changes != "" {
			t.Errorf("%s leaves changes: %s", version, changes)
		}
		proxy := publish(t, r, version)
		for _, folder := range []string{"bench", "store/anystore", "cmd/pathlock", "sample-app"} {
			// Without the flag the go command would mend a go.sum.
			build(t, r, folder, append(outside(t, proxy), "GOPROXY=file://"+proxy, "GOFLAGS=-modcacherw -mod=readonly"))
			build(t, r, folder, append(os.Environ(), "GOPROXY=off", "GOWORK=", "GOFLAGS="))
		}
		// tidy.sh keeps the checksums of the release.
		tidy := exec.CommandContext(t.Context(), "bash", "test/tidy.sh", "-check")
		tidy.Dir, tidy.Env = string(r), append(os.Environ(), "GOPROXY=off", "GOWORK=", "GOFLAGS=")
		if out, err := tidy.CombinedOutput(); err != nil {
			t.Errorf("after %s: %v: %s", version, err, out)
		}
		put(t, r, "CHANGELOG.md", strings.Replace(read(t, r, "CHANGELOG.md"), unreleased, unreleased+"\n- more\n", 1))
		put(t, r, "text.lua", "return '"+version+"'\n")
		git(t, r, "commit", "--quiet", "--all", "--message", "work")
	}
	var headings []string
	for line := range strings.Lines(read(t, r, "CHANGELOG.md")) {
		if strings.HasPrefix(line, "## ") {
			headings = append(headings, strings.TrimSpace(line))
		}
	}
	want := []string{"## [Unreleased]", "## [0.2.0] - 2006-01-02", "## [0.2.0-rc.1] - 2006-01-02", "## [0.1.0] - 2006-01-02"}
	if !slices.Equal(headings, want) {
		t.Errorf("the changelog has %q, want %q", headings, want)
	}
}

func build(t *testing.T, r repository, folder string, env []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, ".")
	cmd.Dir, cmd.Env = filepath.Join(string(r), folder), env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", folder, err, out)
	}
}

// A hook that changes what is committed makes the checksums wrong.
func TestACommitThatHooksChangeIsNotTagged(t *testing.T) {
	r := commit(t, small)
	hook := filepath.Join(string(r), ".git", "hooks", "pre-commit")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho '# hooked' >>CHANGELOG.md\ngit add CHANGELOG.md\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := at(t, r, io.Discard, "-write", "v0.1.0"); err == nil {
		t.Error("the release is made")
	}
	if tagged := git(t, r, "tag"); tagged != "" {
		t.Errorf("tagged: %s", tagged)
	}
}

// The modules that people outside use are in the workspace, and all modules require one version of
// the repository's modules, which are published.
func TestAllModulesRequireOneVersionAndReplaceNothing(t *testing.T) {
	root := filepath.Join("..", "..")
	folders, err := requiring(root)
	if err != nil {
		t.Fatal(err)
	}
	tagged := map[string]bool{}
	for _, folder := range published {
		if folder != "." && !slices.Contains(folders, folder) {
			t.Errorf("%s is published and not in go.work", folder)
		}
		tagged[modulePath(folder)] = true
	}
	work := read(t, repository(root), "go.work")
	versions := map[string][]string{}
	for _, folder := range folders {
		ours, err := required(root, folder)
		if err != nil {
			t.Error(err)
		}
		for _, v := range ours {
			versions[v.Version] = append(versions[v.Version], folder)
			if !tagged[v.Path] {
				t.Errorf("%s requires %s, which is not published", folder, v.Path)
			}
			if !strings.Contains(work, "replace "+v.Path+" "+v.Version+" => ./") {
				t.Errorf("%s requires %s %s, which go.work does not replace with the working tree", folder, v.Path, v.Version)
			}
		}
		if text := read(t, repository(root), filepath.Join(folder, "go.mod")); strings.Contains(text, "replace") {
			t.Errorf("%s has a replace directive: it could not be installed", folder)
		}
	}
	if len(versions) != 1 {
		t.Errorf("the repository's modules are required at several versions: %v", versions)
	}
	if _, err := inOrder(root); err != nil {
		t.Error(err)
	}
}

// No order of checksums serves these.
func TestModulesThatCannotBeReleasedAreRefused(t *testing.T) {
	for name, parts := range map[string][]part{
		"modules that require each other":  {{"sample-app", []string{"cmd/pathlock"}}, {"cmd/pathlock", []string{"sample-app"}}},
		"a module that nobody has":         {{"sample-app", []string{"store/nostore"}}},
		"a requirement without a tag":      {{"sample-app", []string{"bench"}}, {"bench", nil}},
		"an indirect one in a chain of it": {{"sample-app", []string{"store/anystore"}}, {"store/anystore", []string{"bench"}}, {"bench", nil}},
	} {
		t.Run(name, func(t *testing.T) {
			r := commit(t, workspace(parts...))
			before := state(t, r)
			if err := at(t, r, io.Discard, "-write", "v0.1.0"); err == nil {
				t.Error("the release is made")
			}
			if after := state(t, r); after != before {
				t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

var (
	goDirective = regexp.MustCompile(`(?m)^go (\d+\.\d+)\.0$`)
	ciVersions  = regexp.MustCompile(`(?m)^ +go: \["(1\.(\d+))", "(1\.(\d+))"\]$`)
)

// The two newest versions of Go are supported. The go directives keep code from using what the
// older one lacks, and CI runs everything with both.
func TestEveryModuleAsksForTheOlderOfTheVersionsThatCIRuns(t *testing.T) {
	root := repository(filepath.Join("..", ".."))
	versions := ciVersions.FindStringSubmatch(read(t, root, ".github/workflows/ci.yml"))
	if versions == nil {
		t.Fatal("the workflow does not name two versions of Go")
	}
	older, err := strconv.Atoi(versions[2])
	if err != nil {
		t.Fatal(err)
	}
	if want := strconv.Itoa(older + 1); versions[4] != want {
		t.Errorf("CI runs Go %s and %s: these are no neighbours", versions[1], versions[3])
	}
	for _, name := range append([]string{"go.work"}, goMods(t, root)...) {
		if directive := goDirective.FindStringSubmatch(read(t, root, name)); directive == nil || directive[1] != versions[1] {
			t.Errorf("%s asks for %q, and the older version that CI runs is %s", name, directive, versions[1])
		}
	}
	for _, name := range []string{"README.md", "README.zh-CN.md"} {
		if text := read(t, root, name); !strings.Contains(text, versions[1]) || !strings.Contains(text, versions[3]) {
			t.Errorf("%s does not say that Go %s and %s are supported", name, versions[1], versions[3])
		}
	}
}

// dependabot updates every module, even one outside of the workspace.
func TestEveryModuleIsKeptUpToDate(t *testing.T) {
	root := repository(filepath.Join("..", ".."))
	settings := read(t, root, ".github/dependabot.yml")
	for _, name := range goMods(t, root) {
		folder := path.Join("/", path.Dir(name))
		if !strings.Contains(settings, "      - "+folder+"\n") {
			t.Errorf("dependabot does not know %s", folder)
		}
	}
}

// goMods returns the go.mod files of the working tree, committed or not.
func goMods(t *testing.T, root repository) []string {
	t.Helper()
	names, err := root.lines(t.Context(), "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "go.mod", "*/go.mod")
	if err != nil {
		testserver.Missing(t, err.Error())
	}
	if !slices.Contains(names, "go.mod") {
		t.Fatalf("no go.mod of the root: %q", names)
	}
	return names
}
