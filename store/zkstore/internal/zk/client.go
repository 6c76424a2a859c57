package zk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"
)

// Auth are credentials that every session is given.
type Auth struct {
	Scheme string
	Secret []byte
}

// Config says how a [Client] reaches its servers.
type Config struct {
	// Hosts are the servers, host:port.
	Hosts []string
	// Dial makes a connection.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// SessionTimeout is what servers are asked for. They answer what they grant.
	SessionTimeout time.Duration
	// Timeout is how long a call takes at most. A server has two thirds of it to answer: then there
	// is time left to ask another one.
	Timeout time.Duration
	// InFlight is how many calls may be under way.
	InFlight int
	// MaxPacket is the servers' jute.maxbuffer.
	MaxPacket int
	Auth      []Auth
	Log       *slog.Logger
}

// Client keeps one session. It connects at the first call.
type Client struct {
	config Config
	tokens chan struct{} // of the calls under way

	begin  sync.Once
	closed context.Context // over when Close begins
	close  context.CancelFunc
	ended  chan struct{} // closed when the last connection is over

	mu      sync.Mutex
	link    *link // nil while there is no connection
	change  chan struct{}
	reason  error // why there is no connection
	known   credentials
	session Session
	gone    chan struct{}                  // closed when the session has ended
	watches map[string]map[*watch]struct{} // by path
}

// New returns a client.
func New(config Config) *Client {
	c := &Client{
		config:  config,
		tokens:  make(chan struct{}, config.InFlight),
		ended:   make(chan struct{}),
		change:  make(chan struct{}),
		gone:    make(chan struct{}),
		watches: make(map[string]map[*watch]struct{}),
	}
	c.closed, c.close = context.WithCancel(context.Background())
	return c
}

// Session returns the session, which may be lost by now.
func (c *Client) Session() Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.session
	if c.link != nil {
		s.Proven, _ = c.link.lives()
	}
	return s
}

// Gone returns a channel that is closed when the present session, or the next one if there is none,
// has ended.
func (c *Client) Gone() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}

// Do sends requests, in their order on one connection, and waits for all answers. An error is about
// the connection or ctx. What the server has refused is in the answers.
//
// If all requests are repeatable, lost answers are asked for again. After an error, the requests
// belong to the client and must not be looked at.
func (c *Client) Do(ctx context.Context, ops ...Op) error {
	return c.do(ctx, 0, ops)
}

// DoMulti is Do for a [Multi]. It sends nothing if the session is another than m.Only.
func (c *Client) DoMulti(ctx context.Context, m *Multi) error {
	return c.do(ctx, m.Only, []Op{m})
}

func (c *Client) do(ctx context.Context, only int64, ops []Op) error {
	if err := c.check(ops); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.config.Timeout, ErrUnreachable)
	defer cancel()
	select {
	case c.tokens <- struct{}{}:
		defer func() { <-c.tokens }()
	case <-ctx.Done():
		return over(ctx, fmt.Errorf("%w: %d calls are under way", ErrUnreachable, c.config.InFlight))
	case <-c.closed.Done():
		return ErrClosed
	}
	for {
		l, err := c.connected(ctx)
		if err != nil {
			return err
		}
		if only != 0 && l.session != only {
			return ErrOtherSession
		}
		err = exchange(ctx, l, ops)
		again := errors.Is(err, ErrUnreachable) || errors.Is(err, ErrLost) && repeatable(ops)
		if !again {
			return err
		}
		select { // until the client has noticed, too, that the connection is over
		case <-l.over:
		case <-ctx.Done():
			return err
		}
	}
}

// over returns why a call ends: the caller's context has ended, or else the time that the client
// gives a call, which is what err is for.
func over(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), ErrUnreachable) {
		return err
	}
	return ctx.Err()
}

// check refuses what a server would answer by closing the connection.
func (c *Client) check(ops []Op) error {
	const overhead = 64
	for _, op := range ops {
		if op.repeatable() {
			continue // small, as all that only asks
		}
		var e encoder
		op.encode(&e)
		if len(e.buf)+overhead > c.config.MaxPacket {
			return fmt.Errorf("%w: it has %d bytes, of %d", ErrTooLarge, len(e.buf), c.config.MaxPacket)
		}
	}
	return nil
}

func repeatable(ops []Op) bool {
	for _, op := range ops {
		if !op.repeatable() {
			return false
		}
	}
	return true
}

// exchange sends requests on one connection and waits for the answers.
func exchange(ctx context.Context, l *link, ops []Op) error {
	outcomes := make(chan error, len(ops))
	for _, op := range ops {
		l.send(op, func(err error) { outcomes <- err })
	}
	var failed error
	for range ops {
		select {
		case err := <-outcomes:
			// A lost request outweighs one that was not sent.
			if err != nil && (failed == nil || !errors.Is(err, ErrUnreachable)) {
				failed = err
			}
		case <-ctx.Done():
			return over(ctx, ErrLost)
		}
	}
	return failed
}

// connected returns the connection, which it waits for.
func (c *Client) connected(ctx context.Context) (*link, error) {
	c.begin.Do(func() { go c.run() })
	for {
		if c.closed.Err() != nil {
			return nil, ErrClosed
		}
		c.mu.Lock()
		l, change := c.link, c.change
		c.mu.Unlock()
		if l != nil {
			select {
			case <-l.over: // the client is about to notice
			default:
				return l, nil
			}
		}
		select {
		case <-change:
		case <-c.closed.Done():
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, over(ctx, c.unreachable())
		}
	}
}

// unreachable returns ErrUnreachable with the reason.
func (c *Client) unreachable() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == nil {
		return ErrUnreachable
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, c.reason)
}

// run connects, again and again, until the client is closed.
func (c *Client) run() {
	defer close(c.ended)
	hosts := append([]string(nil), c.config.Hosts...)
	rand.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
	lost := time.Now()
	for next, failures := 0, 0; c.closed.Err() == nil; next++ {
		if failures >= len(hosts) {
			c.pause(failures / len(hosts))
		}
		l, err := c.connect(hosts[next%len(hosts)])
		failures++
		if err == nil {
			began := time.Now()
			err = c.serve(l, heartbeatOf(c.Session().Timeout))
			lost = time.Now()
			if lost.Sub(began) > time.Second {
				failures = 0 // it was a good connection: the next one follows at once
			}
		}
		c.fail(err)
		c.giveUp(err, lost)
	}
}

// pause waits after all servers were tried, for longer each time, with jitter.
func (c *Client) pause(rounds int) {
	const first, longest = 20 * time.Millisecond, time.Second
	d := min(first<<min(rounds-1, 10), longest)
	timer := time.NewTimer(d/2 + rand.N(d/2))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.closed.Done():
	}
}

// heartbeatOf returns how often a session gives a sign of life. The time between a follower's
// hearing it and the leader's is half a tick, a second by default.
func heartbeatOf(timeout time.Duration) time.Duration {
	return max(10*time.Millisecond, min(max(timeout/10, time.Second), timeout/4))
}

// connect makes a connection to a server, and takes up the session there.
func (c *Client) connect(host string) (*link, error) {
	ctx, cancel := context.WithTimeout(c.closed, c.config.Timeout/3)
	defer cancel()
	conn, err := c.config.Dial(ctx, host)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	began := time.Now()
	c.mu.Lock()
	known := c.known
	c.mu.Unlock()
	got, timeout, err := shakeHands(conn, known, c.config.SessionTimeout, c.config.Auth)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		_ = conn.Close()
		if refused := Code(0); errors.As(err, &refused) {
			c.known = got // the session stands, its credentials are refused
		}
		return nil, fmt.Errorf("%s: %w", host, err)
	}
	if got.id != known.id {
		c.config.Log.Info("zookeeper: a session begins", "server", host, "timeout", timeout)
	}
	c.known = got
	c.session = Session{ID: got.id, Timeout: timeout, Proven: began}
	return newLink(conn, got.id, got.zxid, c.config.Timeout*2/3, began, c.event), nil
}

// serve offers a connection to callers until it is over.
func (c *Client) serve(l *link, beat time.Duration) error {
	c.mu.Lock()
	c.link, c.reason = l, nil
	close(c.change)
	c.change = make(chan struct{})
	var watches []*watch
	for _, ofPath := range c.watches {
		watches = slices.AppendSeq(watches, maps.Keys(ofPath))
	}
	c.mu.Unlock()
	stop := context.AfterFunc(c.closed, func() { l.send(&closing{}, func(error) {}) })
	defer stop()
	for _, w := range watches {
		w.arm(l)
	}
	err := l.run(beat)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link = nil
	c.session.Proven, c.known.zxid = l.lives()
	return err
}

// fail notes why there is no connection.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == nil && c.closed.Err() == nil {
		c.config.Log.Warn("zookeeper: the connection is lost, or cannot be made", "error", err)
	}
	c.reason = err
}

// giveUp begins a new session if the old one has ended: the server says so, or nobody has taken it
// up for so long that it must have. The latter is how a client comes back to servers that were
// started again empty, which refuse everybody who has seen later transactions.
func (c *Client) giveUp(err error, lost time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !errors.Is(err, errSessionGone) && (c.known.id == 0 || time.Since(lost) < 2*c.session.Timeout) {
		return
	}
	c.config.Log.Warn("zookeeper: the session is lost")
	c.known, c.session = credentials{}, Session{}
	close(c.gone)
	c.gone = make(chan struct{})
}

// Close ends the session, and returns when nothing of the client is left.
func (c *Client) Close(ctx context.Context) error {
	c.close()
	c.begin.Do(func() { close(c.ended) })
	select {
	case <-c.ended:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l != nil {
		l.end(ErrClosed)
	}
	<-c.ended
	return ctx.Err()
}
