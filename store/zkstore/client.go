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

// client gives the calls of go-zookeeper/zk contexts and a time-out. It connects at the first call.
type client struct {
	servers []string
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	timeout time.Duration
	user    []byte // user:password of ZooKeeper's digest scheme, nil for nobody

	closed   context.Context
	close    context.CancelFunc
	requests sync.WaitGroup

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

// errUnanswered is for calls that no server has answered in time. Whether they were carried out is
// not known.
var errUnanswered = errors.New("no server has answered in time")

// isLost reports whether a request may or may not have been carried out.
func isLost(err error) bool {
	for _, lost := range []error{errUnanswered, zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrSessionMoved} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return false
}

// once makes a request, and makes it again only if it was not sent.
func once[T any](ctx context.Context, c *client, request func(*zk.Conn) (T, error)) (T, error) {
	return do(ctx, c, func(_ context.Context, s *session) (T, error) { return request(s.conn) }, false)
}

// untilAnswered makes a request that may be repeated, until a server answers.
func untilAnswered[T any](ctx context.Context, c *client, request func(*zk.Conn) (T, error)) (T, error) {
	return do(ctx, c, func(_ context.Context, s *session) (T, error) { return request(s.conn) }, true)
}

// watching is untilAnswered for a request that sets a watch.
func watching[T any](ctx context.Context, c *client, request func(*zk.Conn) (T, error)) (T, error) {
	return do(ctx, c, func(ctx context.Context, s *session) (none T, err error) {
		if err := s.settle(ctx); err != nil {
			return none, err
		}
		return request(s.conn)
	}, true)
}

// do makes a request until no further one is to be made: one that was not sent is made again, and
// one that was lost if it may be repeated. The library knows no contexts: where ctx ends first, the
// request goes on by itself until the library gives it up with its connection.
func do[T any](ctx context.Context, c *client, request func(context.Context, *session) (T, error), repeatable bool) (T, error) {
	var none T
	// A little less than the call has, whose error then says why.
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout*9/10, errUnanswered)
	defer cancel()
	if c.closed.Err() != nil {
		return none, pathlock.ErrClosed
	}
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	c.requests.Go(func() {
		for {
			var got answer
			s, err := c.current()
			if got.err = err; err == nil {
				got.err = s.authenticate(c.user)
			}
			if got.err == nil {
				got.value, got.err = request(ctx, s)
			}
			again := errors.Is(got.err, zk.ErrNoServer) || repeatable && isLost(got.err)
			if !again || ctx.Err() != nil || c.closed.Err() != nil {
				answers <- got
				return
			}
		}
	})
	select {
	case got := <-answers:
		if got.err != nil && c.closed.Err() != nil {
			return none, pathlock.ErrClosed
		}
		return got.value, got.err
	case <-ctx.Done():
		return none, c.over(ctx)
	}
}

// over returns why a call ends: the caller's context has ended, or the time that a call has.
func (c *client) over(ctx context.Context) error {
	if !errors.Is(context.Cause(ctx), errUnanswered) {
		return ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason != nil {
		return fmt.Errorf("%w: %w", errUnanswered, c.reason)
	}
	return errUnanswered
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
		c.requests.Go(s.conn.Close)
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
	c.requests.Wait()
}
