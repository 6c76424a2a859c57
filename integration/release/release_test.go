package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

const rootPath = "github.com/pathlock-go/pathlock"

// repository is the folder of a git checkout.
type repository string

// here is the checkout that the tests run in.
var here = repository(filepath.Join("..", ".."))

// try runs a command in the checkout, and returns what it prints.
func (r repository) try(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = string(r), append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (r repository) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := r.try(t, nil, args...)
	if err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
	return out
}

func (r repository) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(string(r), name))
	testerr.Must(t, err)
	return string(text)
}

// copied is a new repository with the files of the working tree, committed or not.
func copied(t *testing.T) repository {
	t.Helper()
	names, err := here.try(t, nil, "git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if err != nil {
		testserver.Missing(t, err.Error())
	}
	r := repository(t.TempDir())
	for name := range strings.Lines(names) {
		from, to := filepath.Join(string(here), strings.TrimSpace(name)), filepath.Join(string(r), strings.TrimSpace(name))
		info, err := os.Stat(from)
		if os.IsNotExist(err) {
			continue // it is deleted, but the deletion is not committed yet
		}
		testerr.Must(t, err)
		testerr.Must(t, os.MkdirAll(filepath.Dir(to), 0o755))
		testerr.Must(t, os.WriteFile(to, []byte(here.read(t, strings.TrimSpace(name))), info.Mode()))
	}
	r.run(t, "git", "init", "--quiet", "--initial-branch=main")
	r.run(t, "git", "add", "--all")
	r.run(t, "git", "commit", "--quiet", "--message", "first")
	return r
}

// state is all that a release may change.
func (r repository) state(t *testing.T) string {
	t.Helper()
	return r.run(t, "sh", "-c", "git rev-parse HEAD; git tag; git status --porcelain")
}

func TestRelease_refusedChangesNothing(t *testing.T) {
	r := copied(t)
	remote := t.TempDir()
	r.run(t, "sh", "-c", "git tag cmd/pathlock/v0.1.0; git clone --quiet --bare . "+remote+"; git tag --delete cmd/pathlock/v0.1.0; git remote add origin "+remote)
	for _, c := range []struct{ before, version, why string }{
		{"", "", "give one version"},
		{"", "0.1.0", "not of the form"},
		{"", "v2.0.0", "not of the form"},
		{"", "v0.0.0", "not above"},
		{"", "v0.1.0", "exists at origin"},
		{"git tag sample-app/v0.2.0", "v0.2.0", "exists at ."},
		{"echo >new.go", "v0.3.0", "uncommitted changes"},
		{"echo '## [Unreleased]' >CHANGELOG.md; git add -A; git commit -qm changed", "v0.3.0", "no changes"},
	} {
		r.run(t, "sh", "-c", ":;"+c.before)
		before := r.state(t)
		args := []string{"test/release.sh", c.version}
		if c.version == "" {
			args = args[:1]
		}
		if out, err := r.try(t, []string{"WRITE=1"}, args...); err == nil || !strings.Contains(out, c.why) {
			t.Errorf("%q: %v: %s", c.version, err, out)
		}
		if after := r.state(t); after != before {
			t.Errorf("%q: it was\n%s\nand is\n%s", c.version, before, after)
		}
	}
}

var (
	goDirective = regexp.MustCompile(`(?m)^go (\d+\.\d+)\.0$`)
	ciVersions  = regexp.MustCompile(`(?m)^ +go: \["(1\.\d+)", "(1\.\d+)"\]$`)
	ours        = regexp.MustCompile(`(` + regexp.QuoteMeta(rootPath) + `(?:/\S+)?) (v\S+)`)
	asked       = regexp.MustCompile(`([\w/-]+) (\d+\.\d+)`)
)

// The two newest versions of Go are supported: the go directives keep code from using what the
// older one lacks, and CI runs everything with both. All modules require one version of the
// repository's published modules, which go.work replaces, and dependabot updates every module. The
// list of requirements asks for what the root requires.
func TestModules_agree(t *testing.T) {
	versions := ciVersions.FindStringSubmatch(here.read(t, ".github/workflows/ci.yml"))
	if versions == nil {
		t.Fatal("the workflow does not name two versions of Go")
	}
	for _, page := range []string{"docs/what-it-asks.md", "docs/what-it-asks.zh-CN.md"} {
		_, list, _ := strings.Cut(here.read(t, page), "\n- Go ")
		list, _, _ = strings.Cut("Go "+list, "\n")
		found := asked.FindAllStringSubmatch(list, -1)
		for _, one := range found {
			required := regexp.MustCompile(`(?im)(^|/)` + one[1] + `(/v\d+)? v?` + regexp.QuoteMeta(one[2]) + `\.`)
			if !required.MatchString(here.read(t, "go.mod")) {
				t.Errorf("%s asks for %s, and go.mod does not", page, one[0])
			}
		}
		if len(found) < 6 {
			t.Errorf("%s asks for %q", page, found)
		}
	}
	for _, name := range []string{"README.md", "README.zh-CN.md"} {
		if text := here.read(t, name); !strings.Contains(text, versions[1]) || !strings.Contains(text, versions[2]) {
			t.Errorf("%s does not say that Go %s and %s are supported", name, versions[1], versions[2])
		}
	}
	names, err := here.try(t, nil, "git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "go.work", "go.mod", "*/go.mod")
	if err != nil {
		testserver.Missing(t, err.Error())
	}
	work, dependabot := here.read(t, "go.work"), here.read(t, ".github/dependabot.yml")
	for name := range strings.Lines(names) {
		name = strings.TrimSpace(name)
		text := here.read(t, name)
		if directive := goDirective.FindStringSubmatch(text); directive == nil || directive[1] != versions[1] {
			t.Errorf("%s asks for %q, and the older version that CI runs is %s", name, directive, versions[1])
		}
		if name == "go.work" {
			continue
		}
		if folder := strings.TrimSuffix(strings.TrimSuffix("/"+name, "go.mod"), "/"); !strings.Contains(dependabot, "      - "+folder+"\n") && folder != "" {
			t.Errorf("dependabot does not know %s", folder)
		}
		if strings.Contains(text, "replace") {
			t.Errorf("%s has a replace directive: it could not be installed", name)
		}
		for _, required := range ours.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(work, "replace "+required[1]+" "+required[2]+" => ./") {
				t.Errorf("%s requires %s, which go.work does not replace with the working tree", name, required[0])
			}
		}
	}
}
