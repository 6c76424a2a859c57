package testchild

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// BuildSampleApp builds the sample app into a folder.
func BuildSampleApp(dir string) (program string, err error) {
	program = filepath.Join(dir, "sample-app")
	out, err := exec.CommandContext(context.Background(), "go", "build", "-o", program, "github.com/pathlock-go/pathlock/sample-app").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("[build failed] %w: %s", err, out)
	}
	return program, err
}

// SampleApp is a process of the sample app.
type SampleApp struct {
	*Program
	// Addr is where it serves.
	Addr string
}

// NewSampleApp returns an instance on a free address, with further flags. Serve starts it.
func NewSampleApp(t testing.TB, program string, flags ...string) *SampleApp {
	t.Helper()
	addr := testnet.FreeAddr(t)
	return &SampleApp{NewProgram(t, t.TempDir(), append([]string{program, "serve", "--addr", addr}, flags...)...), addr}
}

// Serve starts the instance, and waits until it serves.
func (a *SampleApp) Serve() {
	a.t.Helper()
	a.Start()
	testserver.Await(a.t, "an instance serves", func() bool {
		r, err := http.Get("http://" + a.Addr + "/healthz") //nolint:noctx // ends with the instance
		if err == nil {
			_ = r.Body.Close()
		}
		return err == nil
	})
}
