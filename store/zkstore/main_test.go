package zkstore

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
	"github.com/pathlock-go/pathlock/store/storetest"
)

func TestMain(m *testing.M) {
	if err := testserver.WaitTogether(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func TestStore(t *testing.T) {
	server := testzk.Start(t)
	storetest.Run(t, func(t *testing.T) pathlock.Store { return newStore(t, server.Addr) },
		storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
			line := &line{}
			return newStore(t, server.Addr), newStore(t, server.Addr, line.option()), line.vanish
		}))
}

// newStore returns a store on some servers that is closed at the end of the test.
func newStore(t testing.TB, servers string, opts ...Option) *Store {
	t.Helper()
	s, err := New(strings.Split(servers, ","), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Second)
		defer cancel()
		_ = s.Close(ctx) // the servers may have gone by now
	})
	return s
}

// newTree returns a tree that nobody else uses.
func newTree(t testing.TB) pathlock.Tree {
	t.Helper()
	tree, err := pathlock.NewTree("zkstore", t.Name()+" "+rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// line is a client's connections, which can be cut.
type line struct {
	mu    sync.Mutex
	gone  bool
	conns []net.Conn
}

var errCut = errors.New("the line is cut")

func (l *line) option() Option {
	return WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.gone {
			_ = conn.Close()
			return nil, errCut
		}
		l.conns = append(l.conns, conn)
		return conn, nil
	})
}

// vanish cuts all connections and lets none be made.
func (l *line) vanish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
	for _, conn := range l.conns {
		_ = conn.Close()
	}
}
