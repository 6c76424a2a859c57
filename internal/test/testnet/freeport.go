package testnet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports are chosen below those that systems give to outgoing connections: one of these could take
// a port before the server does.
const firstPort, lastPort = 10000, 32000

// portTries is how many ports are looked at before there is taken to be none.
const portTries = 1000

// reserved keeps the UDP sockets open that reserve ports.
var reserved struct {
	mu      sync.Mutex
	sockets []net.PacketConn
}

// FreeAddr returns an address on the loopback interface, host:port, that nobody listens on. No
// other call returns it, in this process or in another one, while this one runs:
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

// freeAddr reserves a TCP port by taking the UDP port of that number, which no server here uses,
// and which the system frees when the process ends.
func freeAddr(ctx context.Context) (string, error) {
	var failed error
	for range portTries {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+rand.N(lastPort-firstPort)))
		socket, err := new(net.ListenConfig).ListenPacket(ctx, "udp", addr)
		if err != nil {
			failed = err
			continue
		}
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
		if err != nil {
			failed = errors.Join(err, socket.Close())
			continue
		}
		reserved.mu.Lock()
		reserved.sockets = append(reserved.sockets, socket)
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
