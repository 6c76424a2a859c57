package sampleapp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/pathlock-go/pathlock/bench/internal/daemon"
)

// How long an instance may take to start and to stop.
const (
	startTimeout = 30 * time.Second
	stopTimeout  = 40 * time.Second
)

// source is the program's package in the workspace.
const source = "github.com/pathlock-go/pathlock/sample-app"

// Program is the sample app, built from this repository.
type Program struct {
	folder, path string
}

// Build builds the sample app with the go command. Call Remove in the end.
func Build(ctx context.Context) (*Program, error) {
	folder, err := os.MkdirTemp("", "pathlock-bench-sample-app-")
	if err != nil {
		return nil, err
	}
	p := &Program{folder: folder, path: filepath.Join(folder, "sample-app")}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", p.path, source).CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("building the sample app (which needs the repository around): %w: %s", err, out), p.Remove())
	}
	return p, nil
}

// Remove deletes the program.
func (p *Program) Remove() error { return os.RemoveAll(p.folder) }

// Instance is a running instance.
type Instance struct {
	// URL is its address, without a path.
	URL string

	*daemon.Daemon
}

// Serve starts an instance on a free port of the loopback interface, with further flags, and waits
// until it answers. Call Stop in the end.
func (p *Program) Serve(ctx context.Context, flags ...string) (*Instance, error) {
	port, err := daemon.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	d, err := daemon.New("sample-app", stopTimeout)
	if err != nil {
		return nil, err
	}
	d.Talks = true
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	i := &Instance{URL: "http://" + addr, Daemon: d}
	err = d.Start(ctx, p.path, append([]string{"serve", "--addr", addr}, flags...)...)
	if err == nil {
		err = d.Await(ctx, startTimeout, i.ready)
	}
	if err != nil {
		return nil, errors.Join(err, d.Stop())
	}
	return i, nil
}

// ready asks whether the instance can serve.
func (i *Instance) ready(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, i.URL+"/readyz", nil)
	if err != nil {
		return err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}
