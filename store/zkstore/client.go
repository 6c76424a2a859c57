package zkstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/pathlock-go/pathlock"
)

// client sends the calls of go-zookeeper/zk to any server that can answer. It connects at the first
// call.
type client struct {
	servers []string
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	timeout time.Duration
	user    []byte // user:password of ZooKeeper's digest scheme, nil for nobody

	closed  context.Context
	close   context.CancelFunc
	retired sync.WaitGroup // sessions that are being ended

	mu       sync.Mutex
	session  *session // nil before a call needs one
	sessions int      // how many there were, plus a random number
	conn     net.Conn // the latest one
	reason   error    // why the latest one could not be made, nil if it could
}

func newClient(servers []string, c config) *client {
	cl := &client{
		servers: servers, dial: c.connect, timeout: c.timeout,
		sessions: rand.IntN(len(servers)),
	}
	if c.user != "" {
		cl.user = []byte(c.user + ":" + c.password)
	}
	cl.closed, cl.close = context.WithCancel(context.Background())
	return cl
}

// isLost reports whether a request may or may not have been carried out. If it could not be
// written, the library returns the network's error.
func isLost(err error) bool {
	_, unwritten := errors.AsType[net.Error](err)
	return unwritten || errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrSessionExpired) || errors.Is(err, zk.ErrSessionMoved)
}

// once makes a request, and makes it again only if it was not sent.
func once[T any](ctx context.Context, c *client, request func(*zk.Conn) (T, error)) (T, error) {
	return do(ctx, c, false, func(s *session) (T, error) { return request(s.conn) })
}

// untilAnswered makes a request that may be repeated, until a server answers.
func untilAnswered[T any](ctx context.Context, c *client, request func(*zk.Conn) (T, error)) (T, error) {
	return do(ctx, c, true, func(s *session) (T, error) { return request(s.conn) })
}

// round is how long the library takes at least to try all servers again.
const round = 1100 * time.Millisecond

// do makes a request, and makes it again if it was not sent, or if it was lost and may be repeated.
// The library has no contexts: if ctx ends meanwhile, do returns when the library has an answer, or
// gives the request up with its connection.
func do[T any](ctx context.Context, c *client, repeatable bool, request func(*session) (T, error)) (none T, err error) {
	for ctx.Err() == nil {
		s, err := c.current()
		if err == nil {
			err = s.authenticate(c.user)
		}
		var value T
		if err == nil {
			value, err = request(s)
		}
		switch {
		case err == nil:
			return value, nil
		case c.closed.Err() != nil:
			return none, pathlock.ErrClosed
		case errors.Is(err, zk.ErrNoServer):
			if latest, ok := ctx.Deadline(); ok && time.Until(latest) < round {
				return none, c.unreachable()
			}
		case !repeatable || !isLost(err):
			return none, err
		}
	}
	return none, ctx.Err()
}

// unreachable is the error of a call that found no server. It says why the last server tried could
// not be reached.
func (c *client) unreachable() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == nil {
		return zk.ErrNoServer
	}
	return fmt.Errorf("%w: %w", zk.ErrNoServer, c.reason)
}

// current returns the session, and begins one if there is none.
func (c *client) current() (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Err() != nil {
		return nil, pathlock.ErrClosed
	}
	if c.session != nil {
		return c.session, nil
	}
	c.sessions++
	s := &session{client: c, settled: make(chan struct{})}
	var err error
	s.conn, _, err = zk.Connect(c.servers, c.timeout, zk.WithHostProvider(&rotation{next: c.sessions}), zk.WithDialer(s.dial),
		zk.WithEventCallback(s.event), zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	c.session = s
	return s, nil
}

// retire ends a session. The next call begins another one.
func (c *client) retire(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == s && c.closed.Err() == nil {
		c.session = nil
		c.retired.Go(s.conn.Close)
	}
}

// end ends the session, within a second, and returns when nothing of the client is left.
func (c *client) end() {
	c.close()
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	if s != nil {
		s.conn.Close()
	}
	c.mu.Lock()
	if c.conn != nil {
		_ = c.conn.Close()
	}
	c.mu.Unlock()
	c.retired.Wait()
}
