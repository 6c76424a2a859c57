package release

import (
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// empty has the test begin with an empty module cache, as on a machine that has never seen
// pathlock. CONTRIBUTING.md asks for that before a release. It takes minutes, and downloads
// everything.
var empty = flag.Bool("empty", false, "begin with an empty module cache")

// nextVersion returns the version that the tests publish. Each content has its own: the go command
// remembers what the files of a version import.
func nextVersion(t *testing.T, r repository) string {
	t.Helper()
	tree := r.run(t, "git", "rev-parse", "HEAD^{tree}")
	return fmt.Sprintf("v0.999.%d", crc32.ChecksumIEEE([]byte(tree)))
}

// largestZip is the largest download of a module, in bytes. It has room for twice the code, but not
// for test data.
const largestZip = 4 << 20

// publish writes the tagged modules into a folder that the go command can use as a module proxy.
func publish(t *testing.T, r repository, next string) (proxy string) {
	t.Helper()
	proxy = t.TempDir()
	for tag := range strings.FieldsSeq(r.run(t, "git", "tag")) {
		folder := strings.TrimSuffix(strings.TrimSuffix(tag, next), "/")
		v := module.Version{Path: path.Join(rootPath, folder), Version: next}
		versions := filepath.Join(proxy, v.Path, "@v")
		testerr.Must(t, os.MkdirAll(versions, 0o755))
		archive, err := os.Create(filepath.Join(versions, next+".zip"))
		testerr.Must(t, err)
		testerr.Must(t, zip.CreateFromVCS(archive, v, string(r), tag, folder))
		if info, err := archive.Stat(); err != nil || info.Size() > largestZip {
			t.Errorf("%s is published in %d bytes, %v: what do users need all that for?", v.Path, info.Size(), err)
		}
		testerr.Must(t, archive.Close())
		for name, text := range map[string]string{
			"list": next + "\n", next + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2006-01-02T15:04:05Z"}`, next),
			next + ".mod": r.run(t, "git", "show", tag+":"+path.Join(folder, "go.mod")) + "\n",
		} {
			testerr.Must(t, os.WriteFile(filepath.Join(versions, name), []byte(text), 0o644))
		}
	}
	return proxy
}

// outside returns the environment of somebody who has a module proxy, but none of this checkout's
// settings. What the proxy lacks comes from the machine's own proxy, or from the module cache,
// which lets the compiler use what this checkout's tests have compiled. The published modules leave
// the cache after the test. The checksum database is off, because it does not know the version.
func outside(t *testing.T, proxy, next string) []string {
	t.Helper()
	env := func(name string) string {
		out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		testerr.Must(t, err)
		return strings.TrimSpace(string(out))
	}
	cache := env("GOMODCACHE")
	if *empty {
		cache = t.TempDir()
	} else {
		forget(t, cache, next) // a run that was killed has left another content
		t.Cleanup(func() { forget(t, cache, next) })
	}
	return []string{
		"GOPROXY=file://" + proxy + "," + env("GOPROXY"), "GOMODCACHE=" + cache, "GOBIN=" + t.TempDir(),
		// -modcacherw lets the test delete its folders, -s saves the linker time, and the tag the
		// compiler of gin's codec of msgpack, as in test/flags.sh.
		"GOFLAGS=-modcacherw -ldflags=-s -tags=nomsgpack", "GOWORK=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOENV=off",
		"GOPRIVATE=", "GONOPROXY=", "GONOSUMDB=", "GOINSECURE=", "GOVCS=*:off",
	}
}

// forget removes a version of the repository's modules from a module cache.
func forget(t *testing.T, cache, version string) {
	t.Helper()
	for _, root := range []string{filepath.Join(cache, filepath.Dir(rootPath)), filepath.Join(cache, "cache", "download", rootPath)} {
		err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case strings.HasSuffix(name, "@"+version):
				if err := os.RemoveAll(name); err != nil {
					return err
				}
				return fs.SkipDir
			case strings.HasPrefix(entry.Name(), version+"."), entry.Name() == "list": // the go command lists again
				return os.Remove(name)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

var (
	program = regexp.MustCompile("(?s)```go\n([^`]*package main\n.*?)```")
	line    = regexp.MustCompile(`(?m)^(go (?:mod init|get|mod tidy|install|run) ?[^#\n]*)`)
)

// Once a release of this tree is published, what README.md shows works in an empty folder: its
// program compiles against the published modules, and the commands are installed and run.
func TestREADME_worksOutside(t *testing.T) {
	r := copied(t)
	next := nextVersion(t, r)
	if out, err := r.try(t, []string{"WRITE=1"}, "test/release.sh", next); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// The checkout of a release finds all its packages without a proxy.
	if out, err := r.try(t, []string{"GOPROXY=off", "GOWORK=", "GOFLAGS=-tags=nomsgpack"}, "go", "list", "-deps", "./sample-app"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	readme := r.read(t, "README.md")
	visitor, env := repository(t.TempDir()), outside(t, publish(t, r, next), next)
	run := func(command string) string {
		t.Helper()
		out, err := visitor.try(t, env, "sh", "-c", command)
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		return out
	}
	code := program.FindStringSubmatch(readme)
	if code == nil {
		t.Fatal("README.md shows no program")
	}
	testerr.Must(t, os.WriteFile(filepath.Join(string(visitor), "main.go"), []byte(code[1]), 0o644))
	var installed, built bool
	for _, command := range line.FindAllString(readme, -1) {
		switch command = strings.TrimSpace(command); {
		case strings.HasPrefix(command, "go run ./"): // in a checkout
		case command == "go run .":
			// The program serves until it is stopped. Package readme has the test that runs it.
			run("go build -o program .")
			built = true
			mods := run("go version -m program")
			if !strings.Contains(mods, rootPath+"\t"+next) || strings.Contains(mods, rootPath+"/store/") {
				t.Errorf("the program is not built of the published module, or has stores that it does not use: %s", mods)
			}
		case strings.HasPrefix(command, "go install "):
			run(command)
			installed = true
			if version := run(`"$GOBIN/pathlock" --version`); !strings.Contains(version, next) {
				t.Errorf("the command says that it is %s", version)
			}
		case strings.HasPrefix(command, "go run "+rootPath):
			if out := run(command + " --help"); !strings.Contains(out, "storm") {
				t.Errorf("the sample app's help is %s", out)
			}
		case command != "go get "+rootPath: // the module of the program comes below
			run(command)
		}
	}
	if !built || !installed {
		t.Errorf("README.md does not show how its program (%t) and the command (%t) are built", built, installed)
	}
}
