package lockserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/bench/internal/daemon"
)

// EtcdVariable is the environment variable that has the path of an etcd to use instead of building
// one.
const EtcdVariable = "PATHLOCK_BENCH_ETCD"

// source is the package of the workspace that is etcd.
const source = "github.com/pathlock-go/pathlock/store/etcdstore/internal/etcdserver"

// Etcd is a cluster of one member that this process has started.
type Etcd struct {
	// Addr is where it listens for clients, host and port.
	Addr string

	*daemon.Daemon
}

// StartEtcd starts an etcd, which it builds from its Go module if need be. Call Stop in the end.
func StartEtcd(ctx context.Context) (*Etcd, error) {
	d, err := daemon.New("etcd", stopTimeout)
	if err != nil {
		return nil, err
	}
	d.Talks = true
	e := &Etcd{Daemon: d}
	if err := e.run(ctx); err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}

func (e *Etcd) run(ctx context.Context) error {
	program, err := e.program(ctx)
	if err != nil {
		return err
	}
	port, err := daemon.FreePort(ctx)
	if err != nil {
		return err
	}
	peers, err := daemon.FreePort(ctx)
	if err != nil {
		return err
	}
	e.Addr = "127.0.0.1:" + strconv.Itoa(port)
	clients, peer := "http://"+e.Addr, "http://127.0.0.1:"+strconv.Itoa(peers)
	err = e.Start(ctx, program, "--name", "bench", "--data-dir", filepath.Join(e.Folder, "data"), "--log-level", "warn", "--unsafe-no-fsync",
		"--listen-client-urls", clients, "--advertise-client-urls", clients,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "bench="+peer)
	if err != nil {
		return err
	}
	return e.Await(ctx, startTimeout, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, clients+"/health", http.NoBody)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		if err := resp.Body.Close(); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("its health is %s", resp.Status)
		}
		return nil
	})
}

// program returns the path of etcd, which it builds if the environment names none. The module has
// versions of its own, so the workspace is off.
func (e *Etcd) program(ctx context.Context) (string, error) {
	if path := os.Getenv(EtcdVariable); path != "" {
		return path, nil
	}
	folder, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", source).Output()
	if err != nil {
		return "", fmt.Errorf("looking for etcd's module (which needs the repository around): %w", err)
	}
	path := filepath.Join(e.Folder, "etcd")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, ".")
	build.Dir = strings.TrimSpace(string(folder))
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building etcd: %w: %s", err, out)
	}
	return path, nil
}
