package testnet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// Ports are chosen below those that systems give to outgoing connections: one of these could take
// a port before the server does.
const firstPort, lastPort = 10000, 32000

// portTries is how many ports are looked at before there is taken to be none.
const portTries = 1000

// reserved keeps the files open whose locks reserve ports.
var reserved struct {
	mu    sync.Mutex
	files []*os.File
}

// FreeAddr returns an address on the loopback interface, host:port, that nobody listens on. No
// other call returns it, in this process or in another one of the same user, while this one runs:
// tests of several packages run at once, and another process could choose the port between the
// choice and the start of its server.
func FreeAddr(t testing.TB) string {
	t.Helper()
	addr, err := freeAddr(t.Context())
	if err != nil {
		t.Fatalf("testnet: %v", err)
	}
	return addr
}

func freeAddr(ctx context.Context) (string, error) {
	dir := filepath.Join(os.TempDir(), "pathlock-ports-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	var failed error
	for range portTries {
		port := strconv.Itoa(firstPort + rand.N(lastPort-firstPort))
		file, err := reserve(filepath.Join(dir, port))
		if err != nil {
			failed = err
			continue
		}
		addr := net.JoinHostPort("127.0.0.1", port)
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
		if err != nil {
			failed = errors.Join(err, file.Close())
			continue
		}
		reserved.mu.Lock()
		reserved.files = append(reserved.files, file)
		reserved.mu.Unlock()
		return addr, closeEverywhere(ctx, listener)
	}
	return "", fmt.Errorf("no free port between %d and %d: %w", firstPort, lastPort, failed)
}

// closeEverywhere closes a listener, and returns when nobody listens there. A process that is being
// started shares the listener until it runs its own program.
func closeEverywhere(ctx context.Context, listener net.Listener) error {
	if err := listener.Close(); err != nil {
		return err
	}
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
		if err != nil {
			return ctx.Err()
		}
		_ = conn.Close()
	}
}

// FreePort returns the port of such an address.
func FreePort(t testing.TB) string {
	t.Helper()
	_, port, _ := net.SplitHostPort(FreeAddr(t))
	return port
}

// reserve locks a file, unless another process has it locked, or this one.
func reserve(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
