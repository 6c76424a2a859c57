package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// largestZip is the largest download of a module, in bytes. It has room for twice the code, but not
// for test data.
const largestZip = 4 << 20

// publish writes the tagged version of the published modules into a folder. The go command can use
// the folder as a module proxy.
func publish(t *testing.T, r repository, version string) (proxy string) {
	t.Helper()
	proxy = t.TempDir()
	for _, folder := range published {
		versions := filepath.Join(proxy, modulePath(folder), "@v")
		if err := os.MkdirAll(versions, 0o755); err != nil {
			t.Fatal(err)
		}
		archive, err := os.Create(filepath.Join(versions, version+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		if err := zip.CreateFromVCS(archive, module.Version{Path: modulePath(folder), Version: version}, string(r), tag(folder, version), subdirectory(folder)); err != nil {
			t.Fatal(err)
		}
		if info, err := archive.Stat(); err != nil {
			t.Fatal(err)
		} else if info.Size() > largestZip {
			t.Errorf("%s is published in %d bytes: what do users need all that for?", modulePath(folder), info.Size())
		}
		if err := archive.Close(); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"list":            version + "\n",
			version + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2006-01-02T15:04:05Z"}`, version),
			version + ".mod":  git(t, r, "show", tag(folder, version)+":"+path.Join(folder, "go.mod")) + "\n",
		} {
			if err := os.WriteFile(filepath.Join(versions, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return proxy
}

// outside returns the environment of somebody who has a module proxy, but none of this machine's
// modules and settings. Modules that the proxy lacks come from the machine's downloads, and then
// from the machine's own proxy. The checksum database is off, because it does not know the new
// version.
func outside(t *testing.T, proxy string) []string {
	t.Helper()
	env := func(name string) string {
		out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	sources := []string{"file://" + proxy, "file://" + filepath.Join(env("GOMODCACHE"), "cache", "download"), env("GOPROXY")}
	return append(os.Environ(),
		"GOPROXY="+strings.Join(sources, ","),
		"GOMODCACHE="+t.TempDir(),
		"GOBIN="+t.TempDir(),
		// -modcacherw lets the test delete its folders. -trimpath reuses the packages that an earlier
		// run has compiled in other folders.
		"GOFLAGS=-modcacherw -trimpath",
		"GOWORK=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOENV=off",
		"GOPRIVATE=", "GONOPROXY=", "GONOSUMDB=", "GOINSECURE=", "GOVCS=*:off",
	)
}
