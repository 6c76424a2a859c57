package sqlstore_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// cutter is a proxy that cuts connections at a message that the client sends.
type cutter struct {
	listener net.Listener
	upstream string
	running  sync.WaitGroup

	mu sync.Mutex
	// left is how many messages pass before the one at which the connection is cut, less than 0 if
	// all do. Where late is set, the server gets that one, and the client no answer.
	left int
	late bool
	cut  bool
	// sent is how many messages have been sent.
	sent  int
	conns map[net.Conn]bool
}

// cutting returns the database behind a cutter.
func (d database) cutting(t *testing.T) (database, *cutter) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{listener: listener, left: -1, conns: make(map[net.Conn]bool)}
	if d.dialect == sqlstore.Postgres {
		u, err := url.Parse(d.url)
		if err != nil {
			t.Fatal(err)
		}
		c.upstream, u.Host = u.Host, listener.Addr().String()
		d.url = u.String()
	} else {
		cfg, err := mysql.ParseDSN(strings.TrimPrefix(d.url, "mysql://"))
		if err != nil {
			t.Fatal(err)
		}
		c.upstream, cfg.Addr = cfg.Addr, listener.Addr().String()
		d.url = "mysql://" + cfg.FormatDSN()
	}
	c.running.Go(c.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		c.mu.Lock()
		for conn := range c.conns {
			_ = conn.Close()
		}
		c.mu.Unlock()
		c.running.Wait()
	})
	return d, c
}

func (c *cutter) accept() {
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return
		}
		server, err := new(net.Dialer).DialContext(context.Background(), "tcp", c.upstream)
		if err != nil {
			_ = client.Close()
			continue
		}
		c.mu.Lock()
		c.conns[client], c.conns[server] = true, true
		c.mu.Unlock()
		var deaf sync.Once
		silent := make(chan struct{})
		c.running.Go(func() { // what the server says
			defer func() { _, _ = client.Close(), server.Close() }()
			buffer := make([]byte, 1<<16)
			for {
				n, err := server.Read(buffer)
				if err != nil {
					return
				}
				select {
				case <-silent:
					return
				default:
				}
				if _, err := client.Write(buffer[:n]); err != nil {
					return
				}
			}
		})
		c.running.Go(func() { // what the client says
			defer func() { _, _ = client.Close(), server.Close() }()
			buffer := make([]byte, 1<<16)
			for {
				n, err := client.Read(buffer)
				if err != nil {
					return
				}
				cut, late := c.count()
				if cut && !late {
					return
				}
				if cut {
					deaf.Do(func() { close(silent) })
				}
				if _, err := server.Write(buffer[:n]); err != nil {
					return
				}
				if cut {
					// The other goroutine ends both when the server has answered.
					<-time.After(200 * time.Millisecond)
					return
				}
			}
		})
	}
}

// count counts a message, and says what becomes of it.
func (c *cutter) count() (cut, late bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	if c.left < 0 {
		return false, false
	}
	c.left--
	if c.left >= 0 {
		return false, false
	}
	c.cut = true
	return true, c.late
}

// at has the connection cut at a message from now on.
func (c *cutter) at(n int, late bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.late, c.cut = n, late, false
}

// messages returns how many messages the clients have sent.
func (c *cutter) messages() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent
}

// off has all messages pass, and reports whether a connection was cut.
func (c *cutter) off() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = -1
	return c.cut
}

// Wherever the connection is cut, a request that is sent again is granted once, a release that is
// sent again is carried out once, and nothing is left.
func TestConnectionsThatAreCut(t *testing.T) {
	eachServer(t, func(t *testing.T, d database) {
		for _, late := range []bool{false, true} {
			t.Run(map[bool]string{false: "before the server has a message", true: "before the client has the answer"}[late], func(t *testing.T) {
				t.Parallel()
				far, cutter := d.cutting(t)
				d.store(t) // creates the tables
				for name, s := range map[string]*sqlstore.Store{
					"a store of its own": far.store(t), "the application's pool": far.on(t, far.pool(t)),
				} {
					t.Run(name, func(t *testing.T) { cutAtEachStep(t, s, cutter, late) })
				}
			})
		}
	})
}

func cutAtEachStep(t *testing.T, s *sqlstore.Store, cutter *cutter, late bool) {
	tree := newTree(t)
	ctx := t.Context()
	var last uint64
	const most = 60
	for step := range most {
		req := ask(tree, x("/a"))
		cutter.at(step, late)
		_, err := s.Acquire(ctx, req)
		wasCut := cutter.off()
		if err != nil && !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("acquire, cut at message %d: %v", step, err)
		}
		grant, err := s.Acquire(ctx, req)
		if err != nil {
			t.Fatalf("acquire after a cut at message %d: %v", step, err)
		}
		if grant.Fence <= last {
			t.Errorf("acquire after a cut at message %d: the fence %d after %d", step, grant.Fence, last)
		}
		last = grant.Fence

		cutter.at(step, late)
		err = s.Release(ctx, tree, req.Owner, req.Grant)
		wasCut = cutter.off() || wasCut
		if err != nil {
			if !errors.Is(err, pathlock.ErrUnavailable) {
				t.Errorf("release, cut at message %d: %v", step, err)
			}
			if err := s.Release(ctx, tree, req.Owner, req.Grant); err != nil && !errors.Is(err, pathlock.ErrNotHeld) {
				t.Errorf("release after a cut at message %d: %v", step, err)
			}
		}
		left(t, s, tree)
		if !wasCut {
			if step == 0 {
				t.Fatal("nothing was cut")
			}
			return
		}
	}
	t.Errorf("%d messages, and still not done", most)
}
