// Package program builds the repository's programs, and runs these and others until a test ends.
package program

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// longestEnd is how long a program may take to end after the signal.
const longestEnd = 20 * time.Second

// built are the programs of this test binary, by their folders. [Remove] removes them.
var built struct {
	mu     sync.Mutex
	folder string
	by     map[string]string
}

// Build returns the program of a folder below the repository's, such as "sample-app". It is built
// once for each test binary.
func Build(t testing.TB, folder ...string) string {
	t.Helper()
	built.mu.Lock()
	defer built.mu.Unlock()
	source := filepath.Join(append([]string{"..", ".."}, folder...)...)
	if path := built.by[source]; path != "" {
		return path
	}
	if built.folder == "" {
		dir, err := os.MkdirTemp("", "pathlock-programs")
		testerr.Must(t, err)
		built.folder, built.by = dir, map[string]string{}
	}
	path := filepath.Join(built.folder, strings.Join(folder, "-"))
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s", "-o", path, ".") // links faster
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	built.by[source] = path
	return path
}

// Remove removes what [Build] has built. It is for the end of a TestMain.
func Remove() {
	if built.folder != "" {
		_ = os.RemoveAll(built.folder)
	}
}

// Serve runs a program that takes --addr behind other arguments, in a folder of its own and
// without the settings of whoever tests, and returns the address, a host and port.
func Serve(t testing.TB, path string, args ...string) (addr string) {
	t.Helper()
	addr = testnet.FreeAddr(t)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), path, append(args, "--addr", addr)...)
	cmd.Dir = t.TempDir()
	cmd.Env = slices.DeleteFunc(os.Environ(), func(set string) bool { return strings.HasPrefix(set, "PATHLOCK_") })
	Run(t, cmd, addr)
	return addr
}

// Run runs a program, and returns when it listens at an address. At the end of the test it gets a
// SIGTERM, and has to end soon and with 0.
func Run(t testing.TB, cmd *exec.Cmd, addr string) {
	t.Helper()
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	testerr.Must(t, cmd.Start())
	t.Cleanup(func() {
		asked := time.Now()
		testerr.None(t, cmd.Process.Signal(syscall.SIGTERM))
		testerr.Is(t, cmd.Path, cmd.Wait(), nil)
		if took := time.Since(asked); took > longestEnd {
			t.Errorf("%s needed %v to stop", cmd.Path, took)
		}
	})
	testserver.Await(t, cmd.Path+" listens", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}
