package testnet_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/internal/testnet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo starts a server that says what it is told, and returns where it listens.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			})
		}
	})
	return listener.Addr().String()
}

// start starts a proxy before an echo, and a connection to it.
func start(t *testing.T, delay time.Duration) (*testnet.Proxy, net.Conn) {
	t.Helper()
	p, err := testnet.StartProxy(t.Context(), echo(t), delay)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return p, conn
}

// ask writes something and reads it back, and returns how long that took.
func ask(t *testing.T, conn net.Conn, what []byte) time.Duration {
	t.Helper()
	began := time.Now()
	if _, err := conn.Write(what); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(what))
	if _, err := io.ReadFull(conn, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, what) {
		t.Fatalf("%d bytes came back as others", len(what))
	}
	return time.Since(began)
}

func TestEveryByteIsDelayedEachWay(t *testing.T) {
	const delay = 20 * time.Millisecond
	_, conn := start(t, delay)
	for _, size := range []int{1, 200_000} {
		if took := ask(t, conn, bytes.Repeat([]byte("x"), size)); took < 2*delay {
			t.Errorf("%d bytes there and back took %v, less than two delays of %v", size, took, delay)
		}
	}
}

// What is sent later does not wait until what was sent before has arrived.
func TestBytesAreOnTheirWayAtTheSameTime(t *testing.T) {
	const delay, messages = 200 * time.Millisecond, 50
	_, conn := start(t, delay)
	began := time.Now()
	for i := range messages {
		if _, err := conn.Write([]byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]byte, messages)
	if _, err := io.ReadFull(conn, got); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 25*delay {
		t.Errorf("%d messages took %v: one after the other", messages, took)
	}
}

func TestCloseCutsConnections(t *testing.T) {
	p, conn := start(t, time.Millisecond)
	ask(t, conn, []byte("x"))
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("the proxy is closed, and a read gives %v", err)
	}
	if late, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.Addr()); err == nil {
		_ = late.Close()
		t.Error("the proxy is closed, and takes connections")
	}
}
